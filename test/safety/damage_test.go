package safety

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// damage is one way to damage a file.
type damage struct {
	name string
	do   func(path string, old []byte) error
	long bool // only in the long form
	new  bool // the file looks as if a newer wfs wrote it: it is refused, and never written to
	keep bool // the damaged content is worth keeping
}

func written(with func(old []byte) []byte) func(string, []byte) error {
	return func(path string, old []byte) error { return os.WriteFile(path, with(old), 0o600) }
}

func replaced(with func(path string) error) func(string, []byte) error {
	return func(path string, _ []byte) error {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return with(path)
	}
}

// damages returns the damages for a file with this content. outside is the target of a link.
func damages(old []byte, outside string) []damage {
	list := []damage{
		{name: "removed", do: replaced(func(string) error { return nil })},
		{name: "a directory", do: replaced(func(p string) error { return os.MkdirAll(filepath.Join(p, "in it"), 0o700) })},
		{name: "a FIFO", do: replaced(func(p string) error { return syscall.Mkfifo(p, 0o600) })},
		{name: "a link", do: replaced(func(p string) error { return os.Symlink(outside, p) })},
		{name: "a dangling link", do: replaced(func(p string) error { return os.Symlink(outside+".not", p) }), long: true},
		{name: "a device", do: replaced(func(p string) error { return ignoring(syscall.Mknod(p, syscall.S_IFCHR|0o600, 1<<8|5), syscall.EPERM) })},
		{name: "1 GB", do: func(p string, _ []byte) error { return os.Truncate(p, 1<<30) }},
		{name: "empty", do: written(func([]byte) []byte { return nil }), keep: true},
		{name: "zeroed", do: written(func(old []byte) []byte { return make([]byte, len(old)) }), keep: true},
		{name: "binary", do: written(func([]byte) []byte { return []byte("\x00\xff\xfe\x80garbage\n\n\x00") }), keep: true},
	}
	for name, text := range map[string]string{
		"a list": "[]\n", "a string": "\"x\"\n", "null": "null\n", "wrong types": `{"v":"one","session":7,"kind":{},"id":[],"text":1}` + "\n",
		"a huge number": `{"v":1e999,"session":"one"}` + "\n", "a huge integer": `{"v":99999999999999999999}` + "\n", "deep": strings.Repeat("[", 100000),
		"twice": `{"v":1,"v":1,"session":"one","session":"../../x"}` + "\n",
	} {
		list = append(list, damage{name: name, do: written(func([]byte) []byte { return []byte(text) }), long: name != "wrong types", keep: true})
	}
	for name, with := range map[string]func(old []byte) []byte{
		"BOM":  func(old []byte) []byte { return append([]byte("\xef\xbb\xbf"), old...) },
		"CRLF": func(old []byte) []byte { return bytes.ReplaceAll(old, []byte("\n"), []byte("\r\n")) },
		"NUL":  func(old []byte) []byte { return append(slices.Clone(old), 0) },
		"more": func(old []byte) []byte { return append(slices.Clone(old), "more\n"...) },
	} {
		list = append(list, damage{name: name, do: written(with), long: true, keep: true})
	}
	if bytes.Contains(old, []byte(`"v":1`)) {
		list = append(list, damage{name: "a newer version", new: true, do: written(func(old []byte) []byte {
			return resealed(bytes.ReplaceAll(old, []byte(`"v":1`), []byte(`"v":99`)))
		})})
	}
	for n, at := range sampled(len(old), 256) {
		list = append(list,
			damage{name: fmt.Sprintf("cut at %d", at), do: written(func(old []byte) []byte { return old[:at] }), long: n%64 != 7, keep: true},
			damage{name: fmt.Sprintf("flipped at %d", at), long: n%64 != 40, keep: true, do: written(func(old []byte) []byte {
				b := slices.Clone(old)
				b[at] ^= 1 << (at % 8)
				return b
			})})
	}
	slices.SortFunc(list, func(a, b damage) int { return strings.Compare(a.name, b.name) })
	return list
}

func ignoring(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}

// resealed updates the checksums of a journal's lines.
func resealed(text []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		head, _, ok := bytes.Cut(line, []byte(`,"sum":"`))
		if !ok {
			b.Write(line)
			continue
		}
		b.Write(append(sealed(append(head, '}')), '\n'))
	}
	return b.Bytes()
}

// sampled returns at most so many positions in a text, evenly spread.
func sampled(size, most int) []int {
	var at []int
	for i := range min(size, most) {
		at = append(at, i*size/min(size, most))
	}
	return at
}

// samples returns the paths to damage, by pattern: one file of each kind, and directories.
func (f *fixture) samples() map[string]string {
	f.t.Helper()
	found := map[string]string{}
	top := filepath.Join(f.dir, ".git/wfs")
	tip := filepath.Base(f.journalFile("one"))
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == top {
			return err
		}
		rel, _ := filepath.Rel(top, p)
		rel = filepath.ToSlash(rel)
		k := stateFileOf(rel)
		if k == nil {
			if !strings.Contains(rel, "/runs/") && !strings.Contains(rel, "/move/") && !strings.HasPrefix(d.Name(), ".tmp-") && path.Dir(rel) != "worktrees/main/ref-locks" {
				f.t.Errorf("%s is of no kind that the layout knows: a new state file without a test", rel)
			}
			return nil
		}
		if d.IsDir() == k.dir && (found[k.pattern] == "" || d.Name() == tip || strings.HasPrefix(rel, "sessions/one")) {
			found[k.pattern] = rel
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, k := range stateFiles {
		if found[k.pattern] == "" && !k.dir {
			f.t.Errorf("there is no sample of %s: a state file without a test", k.pattern)
		}
	}
	return found
}

// inTime runs wfs and fails the test if it panics or does not end.
func (f *fixture) inTime(args ...string) (string, int) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "wfs", args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = f.dir, f.env, time.Second
	out, _ := cmd.CombinedOutput()
	if ctx.Err() != nil {
		f.t.Fatalf("wfs %s does not come to an end", strings.Join(args, " "))
	}
	exit := cmd.ProcessState.ExitCode()
	if exit < 0 || strings.Contains(string(out), "goroutine ") {
		f.t.Errorf("wfs %s: exit %d: %s", strings.Join(args, " "), exit, out)
	}
	return string(out), exit
}

// TestBar18DamagedFiles damages state files in many ways: no command panics or hangs, doctor repairs all that blocks,
// the session continues from its refs, nothing is lost, and the damaged files are kept. With WFS_SWEEP=all every
// damage is tried on every kind of file, with WFS_SWEEP=7 every seventh.
func TestBar18DamagedFiles(t *testing.T) {
	t.Parallel()
	base := damagedTemplate.fixture(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("not ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	short, every := os.Getenv("WFS_SWEEP") == "", leftoverDensity(t, 12)
	tried := 0
	var mended, newer, bad atomic.Int32
	samples := base.samples()
	for k, pattern := range slices.Sorted(keysOf(samples)) {
		rel := samples[pattern]
		kind := *stateFileOf(rel)
		old, err := os.ReadFile(filepath.Join(base.dir, ".git/wfs", rel))
		if err != nil && !kind.dir {
			t.Fatal(err)
		}
		for n, d := range slices.DeleteFunc(damages(old, outside), func(d damage) bool { return d.long && short }) {
			if kind.dir && !slices.Contains([]string{"a FIFO", "a link", "a device", "removed"}, d.name) {
				continue
			}
			if n%every != k%every {
				continue
			}
			tried++
			t.Run(strings.ReplaceAll(rel, "/", "_")+"/"+d.name, func(t *testing.T) {
				t.Parallel()
				testkit.Sample(t)
				f := damagedTemplate.fixture(t)
				before := f.blobs()
				file := filepath.Join(f.dir, ".git/wfs", rel)
				if err := d.do(file, old); err != nil {
					t.Fatal(err)
				}
				was := fingerprint(file)
				f.inTime("status", "one")
				out, exit := f.inTime("doctor", "--json")
				if fingerprint(file) != was {
					t.Errorf("doctor changed the file")
				}
				if d.new && !kind.cache && strings.Contains(out, "a newer wfs wrote it") {
					newer.Add(1)
					f.isRefusedAsNewer(file, was)
					return
				}
				if exit == exitBlocked {
					mended.Add(1)
				}
				out, exit = f.inTime("doctor", "--repair")
				if exit != exitOK {
					t.Fatalf("doctor --repair: exit %d: %s", exit, out)
				}
				if out, exit := f.inTime("doctor"); exit != exitOK {
					t.Errorf("doctor after the repair: exit %d: %s", exit, out)
				}
				if out, exit := f.inTime("checkpoint", "-m", "again"); exit != exitOK {
					t.Errorf("checkpoint after the repair: exit %d: %s", exit, out)
				}
				if d.keep && strings.Contains(out, "moved to") {
					if kept, _ := filepath.Glob(filepath.Join(filepath.Dir(file), filepath.Base(file)+".corrupt-*")); len(kept) != 1 || fingerprint(kept[0]) != was {
						t.Errorf("what was damaged is not kept: %v", kept)
					}
				}
				f.nothingLost(before)
				f.branchHolds("wfs/one", "first.txt", "second.txt", "b.key")
				if data, err := os.ReadFile(outside); err != nil || string(data) != "not ours\n" {
					t.Errorf("the file that a link led to: %q, %v", data, err)
				}
				if t.Failed() {
					bad.Add(1)
				}
			})
		}
	}
	t.Cleanup(func() {
		t.Logf("%d kinds of files, %d damages, %d needed the doctor, %d of a newer version were refused, %d not mended", len(samples), tried, mended.Load(), newer.Load(), bad.Load())
	})
}

// isRefusedAsNewer runs several kinds of commands on a file that a newer wfs wrote: it stays unchanged.
func (f *fixture) isRefusedAsNewer(file, was string) {
	f.t.Helper()
	for _, args := range [][]string{{"doctor", "--repair"}, {"checkpoint", "-m", "again"}, {"resume", "one"}, {"note", "hi", "one"}} {
		f.inTime(args...)
		if fingerprint(file) != was {
			f.t.Errorf("wfs %s changed a file of a newer wfs", strings.Join(args, " "))
		}
	}
}

// fingerprint returns the type of the file at a path, and the beginning of its content.
func fingerprint(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "nothing"
	}
	if !info.Mode().IsRegular() {
		return info.Mode().String()
	}
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, 8<<20))
	return fmt.Sprintf("%d %x %v", info.Size(), data, err)
}

func keysOf[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestBar18DamagedRefs checks that doctor restores a ref of wfs that a power cut or a person left empty, torn or
// garbled.
func TestBar18DamagedRefs(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, ref := range []string{"refs/wfs/one/ledger", "refs/heads/wfs/one", "refs/heads/wfs/two", "refs/wfs/two/ledger", "refs/wfs-ops/main", "refs/wfs/one/rescue/1"} {
		for name, text := range map[string]string{"empty": "", "torn": "0123456789", "garbage": "\x00\x01\x02", "zeroed": strings.Repeat("\x00", 41), "null id": strings.Repeat("0", 40) + "\n", "no such commit": strings.Repeat("1", 40) + "\n"} {
			if tried++; os.Getenv("WFS_SWEEP") != "all" && tried%3 > 0 {
				continue
			}
			t.Run(strings.ReplaceAll(ref, "/", "_")+"/"+name, func(t *testing.T) {
				f := plainTemplate.fixture(t)
				f.dirty()
				f.ok("wfs", "resume", "one@1") // makes a rescue
				before := f.blobs()
				was := f.ok("git", "rev-parse", ref)
				if err := os.WriteFile(filepath.Join(f.dir, ".git", ref), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if out, exit := f.inTime("doctor"); exit != exitBlocked && !strings.Contains(out, ref) {
					t.Errorf("doctor: exit %d: %s", exit, out)
				}
				out, exit := f.inTime("doctor", "--repair")
				if exit != exitOK {
					t.Fatalf("doctor --repair: exit %d: %s", exit, out)
				}
				if ref != "refs/wfs-ops/main" { // no other ref has its commits
					if now := f.ok("git", "rev-parse", ref); now != was {
						t.Errorf("it is at %s, and was at %s: %s", now, was, out)
					}
					f.nothingLost(before)
				}
				f.sound()
				if out, exit := f.inTime("checkpoint", "-m", "again"); exit != exitOK {
					t.Errorf("checkpoint: exit %d: %s", exit, out)
				}
			})
		}
	}
}

// TestBar18DamagedLedger damages the content of the newest ledger commit in every way: wfs folds the session from its
// events, or refuses and names it.
func TestBar18DamagedLedger(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(string) string{
		"session.json is garbage": func(string) string { return "{garbage" }, "is empty": func(string) string { return "" },
		"is another session's": func(s string) string { return strings.Replace(s, `"id":"one"`, `"id":"../../x"`, 1) },
		"lies":                 func(s string) string { return strings.Replace(s, `"current":2`, `"current":1`, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			f := plainTemplate.fixture(t)
			f.editLedger(with)
			out, exit := f.inTime("doctor", "--json")
			var j struct {
				OK       bool
				Findings []struct{ About string }
			}
			if err := json.Unmarshal([]byte(out), &j); err != nil || exit != exitOK || !j.OK || !strings.Contains(out, `"about":"ledger"`) {
				t.Errorf("exit %d, %v: %s", exit, err, out)
			}
			f.dirty()
			if out, exit := f.inTime("checkpoint", "-m", "again"); exit != exitOK {
				t.Errorf("checkpoint: exit %d: %s", exit, out)
			}
			if out, exit := f.inTime("doctor"); exit != exitOK {
				t.Errorf("doctor: exit %d: %s", exit, out)
			}
		})
	}
	f := plainTemplate.fixture(t)
	f.editLedger(func(s string) string { return strings.Replace(s, `"version":2`, `"version":99`, 1) })
	refs := f.ok("git", "for-each-ref")
	for _, args := range [][]string{{"doctor"}, {"doctor", "--repair"}} {
		if out, exit := f.inTime(args...); exit != exitBlocked || !strings.Contains(out, "a newer wfs wrote it") {
			t.Errorf("wfs %v: exit %d: %s", args, exit, out)
		}
	}
	if out, exit := f.inTime("checkpoint", "-m", "again"); exit != exitError || !strings.Contains(out, "newer version") {
		t.Errorf("checkpoint: exit %d: %s", exit, out)
	}
	if now := f.ok("git", "for-each-ref"); now != refs {
		t.Errorf("something was written: %s", now)
	}
	f.ok("wfs", "log", "--events", "two")
}
