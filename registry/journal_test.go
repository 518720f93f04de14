package registry

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

func peek(t testing.TB, c *Clone, tip session.Commit) ([]session.Event, bool) {
	t.Helper()
	events, torn, err := c.Session("auth").Peek(tip)
	if err != nil {
		t.Fatal(err)
	}
	return events, torn
}

func TestJournalKeepsEvents(t *testing.T) {
	t.Parallel()
	c := clone(t)
	if events, torn := peek(t, c, ""); len(events) > 0 || torn {
		t.Fatal("events out of nothing")
	}
	if len(mustDir(t, filepath.Dir(c.Dir()))) > 0 {
		t.Fatal("Peek wrote something")
	}
	j := open(t, c, "")
	if j.Existed() {
		t.Fatal("it did not exist")
	}
	mustAppend(t, j, note(1))
	mustAppend(t, j, notes(2, 3)...)
	mustAppend(t, j)
	want := notes(1, 3)
	if got := j.Events(); !reflect.DeepEqual(got, want) {
		t.Fatalf("Events = %v", got)
	}
	if got, torn := peek(t, c, ""); !reflect.DeepEqual(got, want) || torn {
		t.Fatalf("Peek = %v, %v", got, torn)
	}
	again := open(t, c, "")
	if !again.Existed() || !reflect.DeepEqual(again.Events(), want) {
		t.Fatalf("opened again: %v, %v", again.Existed(), again.Events())
	}
	mustAppend(t, again, note(4))
	if got, _ := peek(t, c, ""); seqs(got) != "1 2 3 4" {
		t.Fatal(seqs(got))
	}
	if got, _ := peek(t, c, tip(1)); len(got) > 0 {
		t.Fatal("applied to another tip")
	}
}

func mustDir(t testing.TB, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestOpeningMakesNoJournal(t *testing.T) {
	t.Parallel()
	c := clone(t)
	for range 2 { // a process that dies after opening must not hide from the next one that the recovery is still to do
		if open(t, c, tip(1)).Existed() {
			t.Fatal("opening made a journal")
		}
	}
}

func TestAppendRefusesGaps(t *testing.T) {
	t.Parallel()
	c := clone(t)
	j := open(t, c, "")
	mustAppend(t, j, note(7)) // the fold checks the first number, not the journal
	before := files(t, c.Dir())
	for _, events := range [][]session.Event{{note(7)}, {note(9)}, {note(6)}, {note(8), note(10)}} {
		if err := j.Append(events...); err == nil {
			t.Fatalf("took %s after 7", seqs(events))
		}
	}
	if !maps.Equal(before, files(t, c.Dir())) {
		t.Fatal("something was written")
	}
	mustAppend(t, j, notes(8, 9)...)
	mustAppend(t, open(t, c, ""), note(10))
}

func TestAppendNoticesDeletion(t *testing.T) {
	t.Parallel()
	c := clone(t)
	j := open(t, c, "")
	mustAppend(t, j, note(1))
	if err := os.RemoveAll(c.Dir()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := j.Append(note(2)); !errors.Is(err, durable.ErrReplaced) {
			t.Fatalf("Append = %v, want ErrReplaced", err)
		}
	}
}

// written returns the bytes of a journal with n events.
func written(t testing.TB, n int64) []byte {
	t.Helper()
	c := clone(t)
	j := open(t, c, "")
	if err := j.Rotate(tip(1)); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, notes(1, n)...)
	data, err := os.ReadFile(j.path())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func plant(t testing.TB, data []byte) (*Clone, string) {
	t.Helper()
	c := clone(t)
	dir := filepath.Join(c.Dir(), "sessions", "auth")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := journalPath(dir, string(tip(1)))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return c, path
}

func TestTruncatedAnywhere(t *testing.T) {
	t.Parallel()
	data := written(t, 4)
	all := notes(1, 4)
	for n := range len(data) + 1 {
		c, path := plant(t, data[:n])
		whole := bytes.Count(data[:n], []byte("\n"))
		want := all[:max(0, whole-1)] // the first line is the header
		wantTorn := n > 0 && data[n-1] != '\n'
		got, torn := peek(t, c, tip(1))
		if seqs(got) != seqs(want) || torn != wantTorn {
			t.Fatalf("at byte %d: Peek = %s, %v; want %s, %v", n, seqs(got), torn, seqs(want), wantTorn)
		}
		j := open(t, c, tip(1))
		if seqs(j.Events()) != seqs(want) {
			t.Fatalf("at byte %d: Journal has %s, want %s", n, seqs(j.Events()), seqs(want))
		}
		kept := bytes.LastIndexByte(data[:n], '\n') + 1
		if on, err := os.ReadFile(path); err != nil || !bytes.Equal(on, data[:kept]) {
			t.Fatalf("at byte %d: the file was cut to %d bytes, want %d (%v)", n, len(on), kept, err)
		}
		if aside := files(t, c.Dir())["sessions/auth/"+filepath.Base(path)+".torn.corrupt-1"]; aside != string(data[kept:n]) {
			t.Fatalf("at byte %d: %q was kept aside, want %q", n, aside, data[kept:n])
		}
		mustAppend(t, j, note(int64(len(want))+1))
		if got, torn := peek(t, c, tip(1)); seqs(got) != seqs(notes(1, int64(len(want))+1)) || torn {
			t.Fatalf("at byte %d: then %s, %v", n, seqs(got), torn)
		}
		if on, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(on, []byte(`{"v":1,"journal":`)) {
			t.Fatalf("at byte %d: the first line was not written again (%v)", n, err)
		}
	}
}

func TestGarbageTailsAreKeptAside(t *testing.T) {
	t.Parallel()
	data := written(t, 2)
	c, path := plant(t, data)
	for n := 1; n <= 5; n++ {
		tail := fmt.Sprintf("%d\x00\x00\nmore\n", n) // whole lines, but no good ones after them
		if err := os.WriteFile(path, append(bytes.Clone(data), tail...), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := open(t, c, tip(1)).Events(); seqs(got) != "1 2" {
			t.Fatal(seqs(got))
		}
		if got := files(t, c.Dir())[fmt.Sprintf("sessions/auth/%s.torn.corrupt-%d", filepath.Base(path), n)]; got != tail {
			t.Fatalf("kept aside %q, want %q", got, tail)
		}
	}
	kept, err := filepath.Glob(path + ".torn.corrupt-*")
	if err != nil || len(kept) != 3 {
		t.Fatalf("%v, %v", kept, err)
	}
}

func TestFlippedByteStopsWriting(t *testing.T) {
	t.Parallel()
	data := written(t, 4)
	first := bytes.IndexByte(data, '\n') + 1
	last := bytes.LastIndexByte(data[:len(data)-1], '\n')
	for at := first; at < last; at++ {
		spoilt := bytes.Clone(data)
		spoilt[at] ^= 1
		c, path := plant(t, spoilt)
		line := 2 + bytes.Count(data[first:at], []byte("\n"))
		prefix := notes(1, int64(line)-2)

		got, _, err := c.Session("auth").Peek(tip(1))
		if !errors.Is(err, ErrCorrupt) || seqs(got) != seqs(prefix) {
			t.Fatalf("byte %d: Peek = %s, %v", at, seqs(got), err)
		}
		_, err = c.Session("auth").Journal(tip(1))
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), fmt.Sprintf("%s, line %d", path, line)) {
			t.Fatalf("byte %d: Journal: %v, want line %d", at, err, line)
		}
		if all := files(t, c.Dir()); len(all) != 1 || all["sessions/auth/"+filepath.Base(path)] != string(spoilt) {
			t.Fatalf("byte %d: something was written", at)
		}
	}
}

func TestDamagedJournals(t *testing.T) {
	t.Parallel()
	data := written(t, 4)
	lines := bytes.SplitAfter(data, []byte("\n"))
	join := func(l ...[]byte) []byte { return bytes.Join(l, nil) }
	header := func(h journalHeader) []byte { return h.encode() }
	newer := []byte(`{"v":2,"seq":3,"at":"2026-01-01T00:00:00Z","kind":"noted","data":{}` + "")
	newer = fmt.Appendf(newer, `,"sum":"%08x"}`+"\n", crc(newer))
	for name, c := range map[string]struct {
		data []byte
		want error
		seqs string
	}{
		"a line is missing":          {join(lines[0], lines[1], lines[3]), ErrCorrupt, "1"},
		"a line is there twice":      {join(lines[0], lines[1], lines[1]), ErrCorrupt, "1"},
		"an empty line":              {join(lines[0], lines[1], []byte("\n"), lines[2]), ErrCorrupt, "1"},
		"line ends of Windows":       {bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), nil, ""},
		"header of another journal":  {join(header(journalHeader{V: 1, Journal: string(tip(2))}), lines[1]), ErrCorrupt, ""},
		"header with a path in it":   {join(header(journalHeader{V: 1, Journal: string(tip(1)), After: "../../x"}), lines[1]), ErrCorrupt, ""},
		"header in the middle":       {join(lines[0], lines[1], lines[0], lines[2]), ErrCorrupt, "1"},
		"no header":                  {join(lines[1], lines[2]), nil, "1 2"},
		"header of a newer version":  {join(header(journalHeader{V: 2, Journal: string(tip(1))}), lines[1]), session.ErrNewer, ""},
		"line of a newer version":    {join(lines[0], lines[1], lines[2], newer), session.ErrNewer, "1 2"},
		"bad line before a newer":    {join(lines[0], lines[1], []byte("x\n"), newer), ErrCorrupt, "1"},
		"nothing but zeros":          {make([]byte, 5000), nil, ""},
		"zeros behind a good prefix": {join(lines[0], lines[1], make([]byte, 5000)), nil, "1"},
		"empty":                      {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cl, path := plant(t, c.data)
			got, _, err := cl.Session("auth").Peek(tip(1))
			if !errors.Is(err, c.want) || seqs(got) != c.seqs {
				t.Fatalf("Peek = %s, %v", seqs(got), err)
			}
			j, err := cl.Session("auth").Journal(tip(1))
			if !errors.Is(err, c.want) {
				t.Fatalf("Journal: %v", err)
			}
			if err != nil {
				if all := files(t, cl.Dir()); len(all) != 1 || all["sessions/auth/"+filepath.Base(path)] != string(c.data) {
					t.Fatal("something was written")
				}
				return
			}
			defer j.Close()
			mustAppend(t, j, note(int64(len(got))+1))
			if again, torn := peek(t, cl, tip(1)); len(again) != len(got)+1 || torn {
				t.Fatalf("then %s, %v", seqs(again), torn)
			}
		})
	}
}

func TestJournalThatIsNoFile(t *testing.T) {
	t.Parallel()
	c, path := plant(t, nil)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Session("auth").Peek(tip(1)); !errors.Is(err, durable.ErrNotRegular) {
		t.Fatalf("Peek: %v", err)
	}
	if _, err := c.Session("auth").Journal(tip(1)); !errors.Is(err, durable.ErrNotRegular) {
		t.Fatalf("Journal: %v", err)
	}
}

func TestHugeJournal(t *testing.T) {
	t.Parallel()
	c, path := plant(t, written(t, 1))
	if err := os.Truncate(path, maxJournal+1); err != nil { // sparse
		t.Fatal(err)
	}
	if _, _, err := c.Session("auth").Peek(tip(1)); !errors.Is(err, durable.ErrTooLarge) {
		t.Fatalf("Peek: %v", err)
	}
}

// journals lists the tips of all journals, by the numbers of tip().
func journals(t testing.TB, c *Clone) string {
	t.Helper()
	tips, err := c.Session("auth").Tips()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, have := range tips {
		if have == "" {
			out = append(out, "none")
		}
		for n := range 100 {
			if have == tip(n) {
				out = append(out, fmt.Sprint(n))
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestRotateKeepsTheLastTwo(t *testing.T) {
	t.Parallel()
	c := clone(t)
	j := open(t, c, "")
	mustAppend(t, j, notes(1, 2)...)
	for n, want := range []string{"1 none", "1 2", "2 3", "3 4"} {
		if n == 2 { // another process continues
			j = open(t, c, tip(2))
		}
		if err := j.Rotate(tip(n + 1)); err != nil {
			t.Fatal(err)
		}
		if got := journals(t, c); got != want {
			t.Fatalf("rotated to %d: %s, want %s", n+1, got, want)
		}
		if len(j.Events()) > 0 {
			t.Fatal("events went along")
		}
		mustAppend(t, j, note(int64(n)+3))
		if events, _ := peek(t, c, tip(n+1)); seqs(events) != fmt.Sprint(n+3) {
			t.Fatal(seqs(events))
		}
	}
	if events, _ := peek(t, c, tip(3)); seqs(events) != "5" {
		t.Fatalf("the previous journal has %s", seqs(events))
	}
	if err := j.Rotate(tip(4)); err != nil { // the current tip
		t.Fatal(err)
	}
	if seqs(j.Events()) != "6" {
		t.Fatal(seqs(j.Events()))
	}
}

func TestRotateAfterACrash(t *testing.T) {
	t.Parallel()
	c := clone(t)
	j := open(t, c, "")
	mustAppend(t, j, note(1))
	for n := 1; n <= 2; n++ {
		if err := j.Rotate(tip(n)); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, j, note(int64(n)+1))
	}
	// Killed after the new journal was created and before the old ones were removed.
	saved := files(t, c.Dir())
	if err := j.Rotate(tip(3)); err != nil {
		t.Fatal(err)
	}
	for name, text := range saved {
		if err := os.WriteFile(filepath.Join(c.Dir(), filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := journals(t, c); got != "1 2 3" {
		t.Fatal(got)
	}
	j = open(t, c, tip(3))
	mustAppend(t, j, note(4))
	if err := j.Rotate(tip(4)); err != nil {
		t.Fatal(err)
	}
	if got := journals(t, c); got != "3 4" {
		t.Fatalf("%s, want 3 4", got)
	}
	// Killed after the ledger had moved to 5 and before the journal did.
	j = open(t, c, tip(5))
	if j.Existed() {
		t.Fatal("5 did not exist")
	}
	mustAppend(t, j, note(5))
	for n := 6; n <= 8; n++ {
		if err := j.Rotate(tip(n)); err != nil {
			t.Fatal(err)
		}
	}
	if got := journals(t, c); got != "3 4 7 8" { // the registry cannot know that the ledger has moved past 3 and 4
		t.Fatalf("%s, want 3 4 7 8", got)
	}
}

func TestRotateKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	c := clone(t)
	foreign := open(t, c, tip(50))
	mustAppend(t, foreign, note(1))
	j := open(t, c, "")
	mustAppend(t, j, note(1))
	for n := 1; n <= 3; n++ {
		if n == 3 { // the first line of a journal that is about to be removed is unreadable
			if err := os.WriteFile(journalPath(j.dir, string(tip(1))), []byte("scribble\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Rotate(tip(n)); err != nil {
			t.Fatal(err)
		}
	}
	if got := journals(t, c); got != "1 2 3 50" {
		t.Fatalf("%s, want 1 2 3 50", got)
	}
}

func TestRotateToAJournalThatIsThere(t *testing.T) {
	t.Parallel()
	c := clone(t)
	mustAppend(t, open(t, c, tip(1)), notes(5, 6)...)
	j := open(t, c, "")
	mustAppend(t, j, notes(1, 4)...)
	if err := j.Rotate(tip(1)); err != nil {
		t.Fatal(err)
	}
	if !j.Existed() || seqs(j.Events()) != "5 6" {
		t.Fatalf("%v, %s", j.Existed(), seqs(j.Events()))
	}
	mustAppend(t, j, note(7))
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	c := clone(t)
	j := open(t, c, "")
	mustAppend(t, j, notes(1, 3)...)
	if err := j.SetExclude([]byte(".env\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := j.RunDir("baseline"); err != nil {
		t.Fatal(err)
	}
	if err := j.Discard(); err != nil {
		t.Fatal(err)
	}
	if left := mustDir(t, j.dir); len(left) > 0 {
		t.Fatalf("left: %v", left)
	}
	mustAppend(t, j, note(1))
	if events, _ := peek(t, c, ""); seqs(events) != "1" {
		t.Fatal(seqs(events))
	}
	if err := j.Rotate(tip(1)); err != nil {
		t.Fatal(err)
	}
	if err := j.Discard(); err == nil {
		t.Fatal("discarded the journal of a session that was born")
	}
}

func TestSweepsWhatWasBeingWritten(t *testing.T) {
	t.Parallel()
	c, path := plant(t, nil)
	temp := filepath.Join(filepath.Dir(path), durable.TempPrefix+"123")
	if err := os.WriteFile(temp, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, c, tip(1))
	if _, err := os.Lstat(temp); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("still there: %v", err)
	}
}

func TestSweepsWhatAKilledRunWasWriting(t *testing.T) {
	t.Parallel()
	c := clone(t)
	j := open(t, c, "")
	mustAppend(t, j, session.Event{Seq: 1, At: time.Unix(1, 0), Body: session.AttemptStarted{Number: 1, RunID: "auth-0001-dead"}})
	dir, err := j.RunDir("auth-0001-dead")
	if err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(dir, durable.TempPrefix+"123")
	if err := os.WriteFile(temp, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, c, "")
	if _, err := os.Lstat(temp); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("still there: %v", err)
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	t.Parallel()
	c := clone(t)
	for _, id := range []session.ID{"", "..", "../x", "a/b", "WFS-auth", "-rf", "a.lock", "con", session.ID(strings.Repeat("a", 300))} {
		if _, err := c.Session(id).Journal(""); err == nil {
			t.Errorf("Journal(%q)", id)
		}
		if _, _, err := c.Session(id).Peek(""); err == nil {
			t.Errorf("Peek(%q)", id)
		}
		if _, err := c.Session(id).Lock(Holder{}); err == nil {
			t.Errorf("Lock(%q)", id)
		}
		if err := c.Session(id).KeepTip(tip(1), nil, nil); err == nil {
			t.Errorf("KeepTip(%q)", id)
		}
	}
	for _, bad := range []session.Commit{"../../x", "none", "HEAD", "ABC", session.Commit(strings.Repeat("a", 129))} {
		if _, err := c.Session("auth").Journal(bad); err == nil {
			t.Errorf("Journal(auth, %q)", bad)
		}
	}
	j := open(t, c, "")
	for _, run := range []string{"", ".", "..", "a/b", `a\b`, "a\x00", strings.Repeat("a", 300)} {
		if _, err := j.RunDir(run); err == nil {
			t.Errorf("RunDir(%q)", run)
		}
	}
}

func TestExclude(t *testing.T) {
	t.Parallel()
	c := clone(t)
	j := open(t, c, "")
	if text, err := j.Exclude(); j.ExcludeFile() != "" || text != nil || err != nil {
		t.Fatalf("%q, %q, %v", j.ExcludeFile(), text, err)
	}
	if err := j.SetExclude([]byte(".env\n")); err != nil {
		t.Fatal(err)
	}
	text, err := j.Exclude()
	if err != nil || string(text) != ".env\n" {
		t.Fatalf("%q, %v", text, err)
	}
	if on, err := os.ReadFile(c.Session("auth").ExcludeFile()); err != nil || string(unseal(on)) != ".env\n" || j.ExcludeFile() != c.Session("auth").ExcludeFile() {
		t.Fatalf("%q, %v", on, err)
	}
}

// TestMend: the events before the damage stay in a writable journal; the damaged file is kept aside.
func TestMend(t *testing.T) {
	t.Parallel()
	c := clone(t)
	mustAppend(t, open(t, c, tip(1)), notes(1, 3)...)
	path, err := c.Session("auth").JournalPath(tip(1))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	lines[2][0] = 'X' // after the header and the first event
	damaged := bytes.Join(lines, nil)
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	good, _, _ := c.Session("auth").Peek(tip(1))
	if seqs(good) != "1" {
		t.Fatalf("before the damage: %s", seqs(good))
	}
	kept, err := c.Mend(Flaw{Path: path, Kind: FileKind{Name: journalKind}}, len(good))
	if err != nil {
		t.Fatal(err)
	}
	if aside, err := os.ReadFile(kept); err != nil || !bytes.Equal(aside, damaged) {
		t.Errorf("aside: %q, %v", aside, err)
	}
	j := open(t, c, tip(1))
	mustAppend(t, j, note(2))
	if got, torn := peek(t, c, tip(1)); seqs(got) != "1 2" || torn {
		t.Errorf("mended: %s, %t", seqs(got), torn)
	}
}
