package safety

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestBar02UndoAll runs random operations with edits of every kind in between, undoes all of them and redoes all of
// them. After each step refs, HEAD, index, files and the state of the sessions are as they were at that point of the
// history.
func TestBar02UndoAll(t *testing.T) {
	dir := testkit.MemoryDir(t)
	template := filepath.Join(dir, "undo-template")
	made := &fixture{t: t, dir: filepath.Join(template, "repo"), env: testkit.Env(template)}
	plainTemplate.make(made)
	made.ok("git", "update-ref", "-d", "refs/wfs-ops/main")
	defer testkit.Drawn(t, 2, 8)()
	var worlds, operations, undone, redone int
	rapid.Check(t, func(rt *rapid.T) {
		worlds++
		top := filepath.Join(dir, fmt.Sprint("undo-", worlds))
		if out, err := exec.Command("cp", "-a", template, top).CombinedOutput(); err != nil {
			rt.Fatalf("%v: %s", err, out)
		}
		defer os.RemoveAll(top)
		l := &line{t: rt, f: &fixture{t: t, dir: filepath.Join(top, "repo"), env: testkit.Env(top)}}
		l.ok("trust", "--yes")
		for range rapid.IntRange(3, 8).Draw(rt, "operations") {
			l.does(rt)
		}
		operations += len(l.done)
		was := make([]scene, len(l.done))
		for i, d := range slices.Backward(l.done) {
			was[i] = l.scene()
			l.ok("undo")
			undone++
			want := d.before
			if d.stays { // edits that were made since stay too
				want.files = was[i].files
			}
			if d.stays && !d.index {
				want.index = was[i].index
			}
			l.same("after undo of "+d.what, want)
		}
		for i, d := range l.done {
			l.ok("redo")
			redone++
			l.same("after redo of "+d.what, was[i])
		}
		l.f.sound()
	})
	t.Logf("%d histories, %d operations, %d taken back, %d done again, 0 differences", worlds, operations, undone, redone)
}

// line is a history of operations.
type line struct {
	t    *rapid.T
	f    *fixture
	n    int
	done []drawnOp
}

// drawnOp is an operation that was done.
type drawnOp struct {
	what   string
	before scene
	stays  bool // it moved no file
	index  bool // though it moved the index
}

// scene is the state that an undo restores.
type scene struct{ said, index, files string }

// does makes an edit, and then runs one operation, which may be refused.
func (l *line) does(t *rapid.T) {
	l.edits(t)
	id := rapid.SampledFrom([]string{"one", "two"}).Draw(t, "session")
	l.n++
	args := [][]string{
		{"checkpoint", "-m", "drawn"}, {"switch", id}, {"switch", "main"}, {"resume", id + "@0"}, {"rename", id, fmt.Sprint("title ", l.n)},
		{"edit", id, "--goal", fmt.Sprint("goal ", l.n)}, {"repin", id, "--agent", fmt.Sprint("echo ", l.n)}, {"phase", "skip"}, {"phase", "back"}, {"abandon", id},
		{"new", fmt.Sprint("s", l.n), "--workflow", "plain", "--agent", "true", "--leave"},
		{"note", fmt.Sprint("note ", l.n), id}, {"budget", "set", id, "--attempts", fmt.Sprint(l.n)}, {"allow", "big.bin", "--session", id},
	}[rapid.IntRange(0, 13).Draw(t, "verb")]
	before, log := l.scene(), l.f.ok("git", "for-each-ref", "refs/wfs-ops")
	out, exit := l.f.try(nil, append([]string{"wfs"}, args...)...)
	if l.f.ok("git", "for-each-ref", "refs/wfs-ops") == log { // refused, or nothing to do
		if now := l.scene(); now != before {
			l.t.Fatalf("wfs %v: exit %d: %s: logged nothing, and changed\n%v\nto\n%v", args, exit, out, before, now)
		}
		return
	}
	d := drawnOp{what: strings.Join(args, " "), before: before}
	switch args[0] {
	case "rename", "edit", "repin", "phase", "note", "budget", "allow":
		d.stays = true
	case "checkpoint":
		d.stays, d.index = true, true
	case "abandon":
		d.stays, d.index = true, strings.Contains(out, "saved when the session was abandoned")
	}
	l.done = append(l.done, d)
}

// edits changes, stages, removes or adds a file.
func (l *line) edits(t *rapid.T) {
	name := rapid.SampledFrom([]string{"edited.txt", "staged.txt", "new.txt", "first.txt"}).Draw(t, "file")
	l.n++
	switch rapid.IntRange(0, 4).Draw(t, "edit") {
	case 0:
	case 1:
		_ = os.Remove(filepath.Join(l.f.dir, name))
	case 2:
		l.f.write(name, fmt.Sprint("staged ", l.n, "\n"))
		l.f.ok("git", "add", name)
		fallthrough
	default:
		l.f.write(name, fmt.Sprint("edited ", l.n, "\n"))
	}
}

func (l *line) ok(args ...string) {
	l.t.Helper()
	if out, exit := l.f.try(nil, append([]string{"wfs"}, args...)...); exit != 0 {
		l.t.Fatalf("wfs %v: exit %d: %s\n%s", args, exit, out, l.f.ok("wfs", "undo", "--list"))
	}
}

func (l *line) scene() scene {
	l.t.Helper()
	var said, files []string
	for _, ref := range strings.Split(l.f.ok("git", "for-each-ref", "--format=%(refname) %(objectname)"), "\n") {
		// Ledgers and logs only grow, and a new session's branch stays, even if it is abandoned or deleted.
		if !strings.HasPrefix(ref, "refs/wfs/") && !strings.HasPrefix(ref, "refs/wfs-deleted/") &&
			!strings.HasPrefix(ref, "refs/wfs-ops/") && !strings.HasPrefix(ref, "refs/heads/wfs/s") {
			said = append(said, ref)
		}
	}
	said = append(said, l.f.head())
	for _, id := range []string{"one", "two"} {
		said = append(said, id+" "+l.state(id))
	}
	names := strings.Split(l.f.ok("git", "ls-files", "-c", "-o", "--exclude-standard"), "\n")
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if data, err := os.ReadFile(filepath.Join(l.f.dir, name)); err == nil && !strings.HasPrefix(name, ".wfs/") {
			files = append(files, fmt.Sprintf("%s %q", name, data))
		}
	}
	return scene{strings.Join(said, "\n"), l.f.ok("git", "ls-files", "-s"), strings.Join(files, "\n")}
}

// state returns the part of a session's state that undo restores. These operations change only the ledger.
func (l *line) state(id string) string {
	l.t.Helper()
	state := map[string]any{}
	if err := json.Unmarshal([]byte(l.f.ok("git", "cat-file", "blob", ledgerOf(id)+":session.json")), &state); err != nil {
		l.t.Fatal(err)
	}
	maps.DeleteFunc(state, func(key string, _ any) bool {
		return !slices.Contains([]string{"status", "phase", "lap", "why", "current", "title", "goal", "plan_digest", "agent", "notes", "allowed", "budget"}, key)
	})
	if len(state) < 5 {
		l.t.Fatalf("only %v is known of %s", state, id)
	}
	return fmt.Sprint(state)
}

func (l *line) same(when string, want scene) {
	l.t.Helper()
	if now := l.scene(); now != want {
		l.t.Fatalf("%s it is\n%s\n%s\n%s\nand should be\n%s\n%s\n%s\n%s", when, now.said, now.index, now.files, want.said, want.index, want.files, l.f.ok("wfs", "undo", "--list"))
	}
}
