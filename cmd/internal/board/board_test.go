package board

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func sample() *Board {
	b := &Board{Title: "shop", Help: "the keys"}
	b.Set([]Row{
		{ID: "done", Group: Done, Status: session.StatusFinished, At: "2/2", Now: "on done",
			Updated: now.Add(-50 * time.Hour)},
		{ID: "run", Group: Running, Status: session.StatusRunning, At: "GREEN 1/2", Attempt: 3,
			Now: "claude runs go test", Cost: "$1.20", Updated: now.Add(-5 * time.Second), Here: true, Runs: true},
		{ID: "ask", Group: NeedsYou, Status: session.StatusWaiting, At: "PLAN", Now: "tabs\x1b[2J or 日本語?",
			Updated: now, About: []string{"goal"}, Decide: true},
	})
	return b
}

func text(b *Board, columns, rows int) string {
	var lines []string
	for _, l := range b.Lines(columns, rows, now) {
		lines = append(lines, strings.TrimRight(l.String(), " "))
	}
	return strings.Join(lines, "\n")
}

func TestLines(t *testing.T) {
	t.Parallel()
	b := sample()
	const want = `shop  3 sessions: 1 needs you, 1 running, 1 done
NEEDS YOU
 >ask  waiting     PLAN         tabs or 日本語?                             0s
RUNNING
* run  running     GREEN 1/2 #3 claude runs go test                 $1.20   5s
DONE
  done finished    2/2          on done                                     2d


──────────────────────────────────────────────────────────────────────────────
goal

Enter watch  s status  d diff  n note  r run  a approve  x reject  ? help  q`
	if got := text(b, 78, 13); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for columns := 0; columns < 100; columns += 7 {
		for _, rows := range []int{0, 1, 2, 3, 4, 5, 9, 24} {
			for _, key := range []string{"?", "q", "n", "ä", "esc", "a", "n", "G"} {
				b.Key(key)
				lines := b.Lines(columns, rows, now)
				if len(lines) > rows {
					t.Fatalf("%dx%d: %d lines", columns, rows, len(lines))
				}
				for _, l := range lines {
					if w := safetext.Width(safetext.Strip(l.String())); w > columns {
						t.Fatalf("%dx%d: %d columns: %q", columns, rows, w, l)
					}
				}
			}
		}
	}
}

// The selected session is always on the screen, and stays selected when others come and go.
func TestScrolls(t *testing.T) {
	t.Parallel()
	var rows []Row
	for i := range 1000 {
		rows = append(rows, Row{ID: session.ID(fmt.Sprintf("s%04d", i)), Group: Group(i % 5),
			Updated: now.Add(-time.Duration(i) * time.Second)})
	}
	b := &Board{}
	b.Set(slices.Clone(rows))
	for _, key := range []string{"down", "pgdn", "pgdn", "up", "G", "pgup", "k", "g", "end", "home", "j"} {
		b.Key(key)
		if got := text(b, 80, 24); !strings.Contains(got, ">"+string(b.selected)) {
			t.Fatalf("after %s, %s is not shown:\n%s", key, b.selected, got)
		}
	}
	was := b.selected
	b.Set(append(slices.Clone(rows), Row{ID: "first", Group: NeedsYou, Updated: now.Add(time.Hour)}))
	if b.selected != was {
		t.Errorf("%s is selected, and no longer %s", b.selected, was)
	}
	b.Set(slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.ID == was }))
	if b.selected == was || b.at() < 0 {
		t.Errorf("%s is gone, and %q selected", was, b.selected)
	}
	b.Set(nil)
	b.Key("j")
	if do := b.Key("enter"); do.Watch != "" {
		t.Errorf("%v without a session", do)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, want string }{
		{"q", "quit"},
		{"\r", "watch ask"},
		{"j\r", "watch run"},
		{"\x1b[B\x1b[A\x1bOB\r", "watch run"},
		{"s", "[status ask]"},
		{"d", "[diff ask]"},
		{"r", "[run --detach ask]"},
		{"jr", ""},
		{"Sy", ""},
		{"jay", ""},
		{"jxno\r", ""},
		{"a", ""},
		{"an", ""},
		{"ay", "[approve ask@0]"},
		{"jSy", "[stop run]"},
		{"nä\x7fay q?\r", "[note ask -m ay q?]"},
		{"n  \r", ""},
		{"nx\x1b", ""},
		{"xno, tabs\r", "[reject ask@0 -m no, tabs]"},
		{"nold\x15new\r", "[note ask -m new]"},
		{"\x1b[200~ay\r\x1b[201~", ""}, // pasted text decides nothing
		{"n\x1b[200~two\nlines\x1b[201~\r", "[note ask -m two lines]"},
		{"a\x1b[200~y\x1b[201~", ""},
		{"?q\r", "watch ask"},
		{"\x1b[99;5u", ""},
	} {
		b, got := sample(), ""
		b.Lines(80, 24, now)
		keys, rest := Keys(c.typed)
		for _, key := range keys {
			switch do := b.Key(key); {
			case do.Quit:
				got = "quit"
			case do.Watch != "":
				got = "watch " + string(do.Watch)
			case do.Args != nil:
				got = fmt.Sprint(do.Args)
			}
		}
		if got != c.want || rest != "" {
			t.Errorf("%q: %q, want %q (rest %q)", c.typed, got, c.want, rest)
		}
	}
	for _, begun := range []string{"\x1b[", "\x1b[200~half", "\xc3"} {
		if keys, rest := Keys("j" + begun); rest != begun || len(keys) != 1 {
			t.Errorf("%q: %q, rest %q", begun, keys, rest)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	b := sample()
	b.Show("$ wfs diff ask", "", true)
	if got := text(b, 40, 5); !strings.HasPrefix(got, "$ wfs diff ask  … running") {
		t.Errorf("%s", got)
	}
	b.Show("$ wfs diff ask", "+one\n"+strings.Repeat("x", 45)+"\n-\x1b]0;title\atwo\n", false)
	b.Key("G")
	const want = `$ wfs diff ask
xxxxx
-two
j k Space scroll…`
	if got := text(b, 20, 4); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.Key("q")
	if got := text(b, 78, 13); !strings.Contains(got, "NEEDS YOU") {
		t.Errorf("%s", got)
	}
}
