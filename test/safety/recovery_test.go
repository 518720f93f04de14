package safety

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// refusalTable has states that wfs does not repair by itself: every writing command gives the reason, and changes
// nothing.
var refusalTable = []row{
	{state: "the journal is damaged in the middle", build: func(f *fixture) {
		f.journal("one", noted("hello"), noted("again"), noted("and again"))
		f.change(f.journalFile("one"), func(text string) string { return strings.Replace(text, "again", "altered", 1) })
	}, exit: exitError, says: "journal is damaged"},
	{state: "session.json is of a newer version", build: func(f *fixture) {
		f.editLedger(func(text string) string { return strings.Replace(text, `"version":2`, `"version":99`, 1) })
	}, exit: exitError, says: "written by a newer version of wfs (format 99; this one reads up to 2)"},
	{state: "the journal is of a newer version", build: func(f *fixture) {
		f.journal("one", noted("hello"))
		f.change(f.journalFile("one"), func(text string) string {
			line := []byte(strings.Replace(text[strings.Index(text, "\n")+1:], `"v":1`, `"v":99`, 1))
			line = line[:strings.LastIndex(string(line), `,"sum"`)]
			return text[:strings.Index(text, "\n")+1] + string(sealed(append(line, '}'))) + "\n"
		})
	}, exit: exitError, says: "written by a newer version of wfs (format 99; this one reads up to 1)"},
}

func TestRefuse(t *testing.T) {
	for _, r := range refusalTable {
		t.Run(r.state, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			r.build(f)
			f.dirty()
			before := f.everything()
			for _, args := range []string{"checkpoint", "run", "switch two", "switch main", "resume @1", "new four --leave --workflow plain --agent true", "finish", "status one"} {
				out, exit := f.try(nil, append([]string{"wfs"}, strings.Fields(args)...)...)
				if exit != r.exit || !strings.Contains(out, r.says) || !strings.Contains(out, "hint: ") {
					t.Errorf("wfs %s: exit %d: %s", args, exit, out)
				}
				if now := f.everything(); now != before {
					t.Errorf("wfs %s changed\n%s\nto\n%s", args, before, now)
				}
			}
			if out := f.ok("wfs", "list"); !strings.Contains(out, "unreadable") || !strings.Contains(out, "two") {
				t.Errorf("the list is\n%s", out)
			}
			f.ok("wfs", "status", "two")
		})
	}
}

func TestBranchGone(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	last := f.ok("git", "rev-parse", "wfs/one")
	f.ok("wfs", "switch", "main")
	f.ok("git", "branch", "-q", "-D", "wfs/one")
	before := f.everything()
	hint := "hint: git branch wfs/one " + last
	for _, args := range []string{"switch one", "resume one", "resume one@1", "resume one --fresh"} {
		out, exit := f.try(nil, append([]string{"wfs"}, strings.Fields(args)...)...)
		if exit != exitError || !strings.Contains(out, hint) {
			t.Errorf("wfs %s: exit %d: %s", args, exit, out)
		}
		if now := f.everything(); now != before {
			t.Errorf("wfs %s changed\n%s\nto\n%s", args, before, now)
		}
	}
	f.ok("wfs", "status", "one")
	f.ok("git", "branch", "wfs/one", last)
	f.ok("wfs", "resume", "one")
	f.on("wfs/one")

	// HEAD stays on the branch when a plumbing command deletes it.
	f.ok("git", "update-ref", "-d", "refs/heads/wfs/one")
	for _, args := range []string{"checkpoint", "run", "finish", "resume"} {
		out, exit := f.try(nil, append([]string{"wfs"}, strings.Fields(args)...)...)
		if exit != exitError || !strings.Contains(out, hint) {
			t.Errorf("wfs %s: exit %d: %s", args, exit, out)
		}
	}
}

// A move that died in another work tree is completed there; if that work tree is gone, the move is dropped.
func TestOtherWorktree(t *testing.T) {
	t.Parallel()
	for _, at := range []step{moveHalf, ledgerMoved} {
		f := plainTemplate.fixture(t)
		other := *f
		other.dir = filepath.Join(filepath.Dir(f.dir), "other")
		f.ok("git", "worktree", "add", "-q", "-b", "third", other.dir, "main")
		other.write("edited.txt", "edited\n")
		other.dies("two", at, "switch", "two")
		before := f.everything()
		for _, args := range []string{"switch two", "resume two@0"} {
			out, exit := f.try(nil, append([]string{"wfs"}, strings.Fields(args)...)...)
			if exit != exitError || !strings.Contains(out, "hint: cd "+other.dir+" && wfs switch two") {
				t.Errorf("wfs %s: exit %d: %s", args, exit, out)
			}
		}
		if now := f.everything(); now != before {
			t.Errorf("refused, and changed\n%s\nto\n%s", before, now)
		}
		f.ok("wfs", "status", "two")
		f.ok("wfs", "checkpoint") // of session one, which is not affected
		other.ok("wfs", "switch", "two")
		if h := other.ok("git", "symbolic-ref", "HEAD"); h != "refs/heads/wfs/two" || !other.exists("of-two.txt") {
			t.Errorf("HEAD is on %s", h)
		}
		if status := other.ok("git", "status", "--porcelain"); status != "" {
			t.Errorf("git status is not clean:\n%s", status)
		}
		f.sound()
	}
	f := plainTemplate.fixture(t)
	other := *f
	other.dir = filepath.Join(filepath.Dir(f.dir), "other")
	f.ok("git", "worktree", "add", "-q", "-b", "third", other.dir, "main")
	other.write("edited.txt", "edited\n")
	other.dies("two", moveHalf, "switch", "two")
	f.ok("git", "worktree", "remove", "--force", other.dir)
	f.ok("wfs", "switch", "two")
	onTwo(f)
	f.happened("two", "move_started dropped move_started moved")
}

func TestSurvivors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes that left their group are found on Linux only")
	}
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.run = "one-0001-alive" // other tests, at the same time, have none that lives
	f.attempt(2)
	cmd := exec.Command("sleep", "600")
	cmd.Env = append(os.Environ(), "WFS_RUN_ID="+f.run)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	f.write("left.txt", "left by the run\n")
	branch := f.ok("git", "rev-parse", "wfs/one")
	for range 2 {
		out, exit := f.try(nil, "wfs", "run")
		if exit != exitBlocked || !strings.Contains(out, "processes are still running") || !strings.Contains(out, "backed up the work tree to refs/wfs/one/auto") {
			t.Errorf("exit %d: %s", exit, out)
		}
	}
	if now := f.ok("git", "rev-parse", "wfs/one"); now != branch || !f.saved("left.txt") {
		t.Errorf("the branch was at %s and is at %s; saved: %v", branch, now, f.saved("left.txt"))
	}
	if out, exit := f.try(nil, "wfs", "resume", "--backup"); exit == 0 || !strings.Contains(out, "still running") {
		t.Errorf("what they write to is put back: exit %d: %s", exit, out)
	}
	cmd.Process.Kill()
	cmd.Wait()
	f.ok("wfs", "run")
	worked(f)
	f.branchHolds("wfs/one", "left.txt")
}

// TestRecover builds every row of the recovery table and runs the next command.
func TestRecover(t *testing.T) {
	for _, r := range slices.Concat(recoveryTable, careTable, undoTable) {
		t.Run(r.state+": wfs "+r.does, func(t *testing.T) {
			t.Parallel()
			testkit.Sample(t)
			f := plainTemplate.fixture(t)
			r.build(f)
			f.recovers(r)
		})
	}
}

// present returns the line of the current checkpoint, without its commit: "* 3 WORK manual mine".
func present(story string) string {
	for line := range strings.Lines(story) {
		if words := strings.Fields(line); len(words) > 4 && words[0] == "*" {
			return strings.Join(slices.Delete(words, 4, 5), " ")
		}
	}
	return ""
}

func (f *fixture) recovers(r row) {
	t := f.t
	before, theirs := f.blobs(), f.userThings()
	maps.Copy(before, f.kept)
	all := f.everything()
	if out := f.ok("wfs", "status", "one"); !strings.Contains(out+present(out), r.reads) {
		t.Errorf("readers see\n%s\nand not %q", out, r.reads)
	}
	f.ok("wfs", "list")
	f.ok("wfs")
	if now := f.everything(); now != all {
		t.Errorf("reading changed\n%s\nto\n%s", all, now)
	}
	args := append([]string{"wfs"}, strings.Fields(r.does)...)
	out, exit := f.try(nil, args...)
	if exit != r.exit || !strings.Contains(out, r.says) {
		t.Errorf("exit %d, not %d with %q:\n%s", exit, r.exit, r.says, out)
	}
	f.nothingLost(before)
	f.sound()
	if r.then != nil {
		r.then(f)
	}
	if now := f.userThings(); now != theirs {
		t.Errorf("what is the user's was changed from\n%s\nto\n%s", theirs, now)
	}
	if status := f.ok("git", "status", "--porcelain"); status != "" && !r.dirty {
		t.Errorf("git status is not clean:\n%s", status)
	}
	if r.redo {
		return
	}
	after := f.repository()
	if out, exit := f.try(nil, args...); exit != r.exit && !strings.Contains(out, "no session is current") {
		t.Errorf("the second time: exit %d: %s", exit, out)
	}
	if now := f.repository(); now != after {
		t.Errorf("the second time changed\n%s\nto\n%s", after, now)
	}
}

// Checks of the state afterwards.

func mine(f *fixture) {
	f.t.Helper()
	f.on("wfs/one")
	f.branchHolds("wfs/one", "edited.txt", "untracked.txt")
}
func worked(f *fixture) {
	f.t.Helper()
	f.on("wfs/one")
	f.branchHolds("wfs/one", "work.txt", "second.txt")
}
func handed(f *fixture) {
	f.t.Helper()
	f.on("handed")
	f.branchHolds("handed", "work.txt")
	f.parents("handed", 1)
}

func unclaimed(f *fixture) {
	f.t.Helper()
	mine(f)
	if left, _ := filepath.Glob(filepath.Join(f.dir, ".git/wfs/worktrees/*/claim")); len(left) > 0 {
		f.t.Errorf("the claim is still there: %v", left)
	}
}

func onTwo(f *fixture) {
	f.t.Helper()
	f.on("wfs/two")
	f.branchHolds("wfs/two", "of-two.txt")
	f.branchLacks("wfs/one", "of-two.txt")
	f.newestOp("two", "switch")
	if f.exists("first.txt") || !f.exists("of-two.txt") {
		f.t.Error("the work tree is not two's")
	}
}

func atZero(f *fixture) {
	f.t.Helper()
	f.on("wfs/one")
	f.branchLacks("wfs/one", "first.txt", "untracked.txt")
	f.newestOp("one", "resume")
	if f.exists("first.txt") || f.exists("untracked.txt") || !f.exists("a.txt") {
		f.t.Error("the work tree is not checkpoint 0's")
	}
}

func (f *fixture) branchLacks(branch string, names ...string) {
	f.t.Helper()
	have := strings.Fields(f.ok("git", "ls-tree", "-r", "--name-only", branch))
	for _, n := range names {
		if slices.Contains(have, n) {
			f.t.Errorf("%s is on %s: %v", n, branch, have)
		}
	}
}

// newestOp checks which operation an undo would undo.
func (f *fixture) newestOp(id, kind string) {
	f.t.Helper()
	if op := f.operations()[0]; op.Session != id || op.Kind != kind {
		f.t.Errorf("the newest operation is %v, not %s of %s", op, kind, id)
	}
}

type operation struct{ Kind, Session, Summary, State string }

func (f *fixture) operations() []operation {
	f.t.Helper()
	var list struct{ Operations []operation }
	if err := json.Unmarshal([]byte(f.ok("wfs", "undo", "--list", "--json")), &list); err != nil {
		f.t.Fatal(err)
	}
	return list.Operations
}

func (f *fixture) same(a, b string) {
	f.t.Helper()
	if x, y := f.ok("git", "rev-parse", a), f.ok("git", "rev-parse", b); x != y {
		f.t.Errorf("%s is at %s, %s at %s", a, x, b, y)
	}
}

func (f *fixture) parents(branch string, want int) {
	f.t.Helper()
	if p := strings.Fields(f.ok("git", "log", "-1", "--format=%P", branch)); len(p) != want {
		f.t.Errorf("%s has the parents %v", branch, p)
	}
}

// grep returns the newest reachable commit with this line in its message, "" for none.
func (f *fixture) grep(line string) string {
	f.t.Helper()
	return f.ok("git", "log", "--all", "-1", "--format=%H", "--grep=^"+line+"$")
}

func (f *fixture) isAncestor(what, commit, branch string) {
	f.t.Helper()
	if _, exit := f.try(nil, "git", "merge-base", "--is-ancestor", commit, branch); exit != 0 {
		f.t.Errorf("%s is not below %s", what, branch)
	}
}

// happened checks that these events are in the session, one after the other.
func (f *fixture) happened(id string, kinds string) {
	f.t.Helper()
	if all := f.kinds(id); !strings.Contains(" "+all+" ", " "+kinds+" ") {
		f.t.Errorf("%q did not happen in %s: %s", kinds, id, all)
	}
}

// Changes by people and disks.

func (f *fixture) loseState() {
	f.t.Helper()
	if err := os.RemoveAll(filepath.Join(f.dir, ".git/wfs")); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) change(path string, edit func(string) string) {
	f.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(edit(string(data))), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// editLedger replaces session.json at the tip of session one's ledger, as a damaged disk or a newer wfs would.
func (f *fixture) editLedger(edit func(string) string) {
	f.t.Helper()
	const ref = "refs/wfs/one/ledger"
	file := filepath.Join(filepath.Dir(f.dir), "session.json")
	if err := os.WriteFile(file, []byte(edit(f.ok("git", "cat-file", "blob", ref+":session.json"))+"\n"), 0o600); err != nil {
		f.t.Fatal(err)
	}
	blob := f.ok("git", "hash-object", "-w", file)
	index := "GIT_INDEX_FILE=" + filepath.Join(filepath.Dir(f.dir), "index")
	f.okWith(index, "git", "read-tree", ref)
	f.okWith(index, "git", "update-index", "--cacheinfo", "100644,"+blob+",session.json")
	parents := []string{"git", "commit-tree", "-m", "edited", f.okWith(index, "git", "write-tree")}
	for _, p := range strings.Fields(f.ok("git", "log", "-1", "--format=%P", ref)) {
		parents = append(parents, "-p", p)
	}
	f.ok("git", "update-ref", ref, f.ok(parents...))
}

func (f *fixture) okWith(env string, args ...string) string {
	f.t.Helper()
	out, exit := f.try([]string{env}, args...)
	if exit != 0 {
		f.t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), exit, out)
	}
	return strings.TrimSpace(out)
}

// repository returns every ref, HEAD, the index and the work tree.
func (f *fixture) repository() string {
	f.t.Helper()
	all := f.ok("git", "for-each-ref") + "\n" + f.head() + "\n" + f.ok("git", "ls-files", "-s") + "\n"
	for _, name := range strings.Split(f.ok("git", "ls-files", "-c", "-o"), "\n") {
		data, err := os.ReadFile(filepath.Join(f.dir, name))
		all += name + " " + strings.TrimSpace(string(data)) + "\n"
		if err != nil {
			all += err.Error() + "\n"
		}
	}
	return all
}

// everything returns repository and the state of wfs, except locks, caches and times.
func (f *fixture) everything() string {
	f.t.Helper()
	all := f.repository()
	for _, name := range []string{"one", "two"} {
		files, _ := filepath.Glob(filepath.Join(f.dir, ".git/wfs/sessions", name, "events-*"))
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				f.t.Fatal(err)
			}
			all += filepath.Base(path) + "\n" + string(data)
		}
	}
	return all
}

// claims writes the note that a session is moving the work tree.
func (f *fixture) claims(id string) {
	f.t.Helper()
	f.write(".git/wfs/worktrees/main/claim", `{"v":1,"session":"`+id+`"}`+"\n")
}
