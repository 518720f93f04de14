package gitstate

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// looksAhead lets what a look ahead finds be there for the next checkpoint, and returns it.
func (r *testRepo) looksAhead() *ahead {
	r.t.Helper()
	a := aheadOf(r.root)
	if a != nil {
		a.holds = time.Minute // this may be a busy machine
	}
	found := func() *ahead { return a }
	r.ahead.Store(&found)
	return a
}

// aheadRepo has a session, a checkpoint, and files that git read long ago.
func aheadRepo(t *testing.T) (*testRepo, session.Draft) {
	r, d := newSession(t)
	if tellingDevice(r.root) == 0 {
		notHere(t, "this file system is not believed")
	}
	for _, f := range []string{"a", "b", "d/a", "d/b", "gone"} {
		r.write(f, "before")
	}
	p := r.prepare(d)
	r.publish(p)
	r.aged()
	r.run("write-tree")
	return r, r.draft(p.Ledger)
}

// texts are the contents of a tree's files.
func (r *testRepo) texts(tree session.Tree) map[string]string {
	r.t.Helper()
	all := map[string]string{}
	for _, p := range splitZ([]byte(r.run("ls-tree", "-r", "-z", "--name-only", string(tree)))) {
		all[p] = r.run("cat-file", "blob", string(tree)+":"+p)
	}
	return all
}

// What changes after the look ahead may be passed over once, as if it had changed a moment later: the next checkpoint has
// it.
func TestAheadLosesNothing(t *testing.T) {
	t.Parallel()
	r, d := aheadRepo(t)
	r.write("a", "edited")
	r.write("d/new", "new")
	r.must(os.Remove(r.path("gone")))
	a := r.looksAhead()
	if a == nil || a.index.scans == nil {
		t.Fatal("nothing was looked at ahead")
	}
	r.write("b", "later!")
	r.write("d/newer", "later")
	p := r.prepare(d)
	if a.index.scans != nil {
		t.Error("what was found ahead was not used")
	}
	got := r.texts(p.Tree)
	if got["a"] != "edited" || got["d/new"] != "new" || got["gone"] != "" {
		t.Errorf("the checkpoint holds %v", got)
	}
	r.publish(p)
	p = r.prepare(r.draft(p.Ledger))
	got = r.texts(p.Tree)
	if got["b"] != "later!" || got["d/newer"] != "later" || got["a"] != "edited" {
		t.Errorf("the next checkpoint holds %v", got)
	}
	if want := r.byGit(); want != string(p.Tree) {
		t.Errorf("git sees %v", r.texts(session.Tree(want)))
	}
}

// What was found ahead counts for the same repository with the same index, and for a moment.
func TestAheadIsNotBelievedForLong(t *testing.T) {
	t.Parallel()
	here := func(r *testRepo) session.Tree { return session.Tree(r.run("rev-parse", "HEAD^{tree}")) }
	for what, change := range map[string]func(r *testRepo, a *ahead){
		"the index changed":   func(r *testRepo, a *ahead) { r.run("add", "a"); chtimes(r.t, r.indexPath(), a.written) },
		"it was written anew": func(r *testRepo, a *ahead) { chtimes(r.t, r.indexPath(), time.Unix(at, 0)) },
		"files were moved": func(r *testRepo, a *ahead) {
			r.must(r.MoveTree(r.t.Context(), session.Move{From: here(r), To: here(r)}))
		},
		"it was a while ago":      func(r *testRepo, a *ahead) { a.holds = 0; a.index.scanned-- },
		"a clock was set back":    func(r *testRepo, a *ahead) { a.index.scanned += uint64(time.Hour) },
		"it is another work tree": func(r *testRepo, a *ahead) { a.root += "/d" },
		"it is another store":     func(r *testRepo, a *ahead) { a.gitDir += "/d" },
		"it has other hashes":     func(r *testRepo, a *ahead) { a.format = "sha256" },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r, d := aheadRepo(t)
			a := r.looksAhead()
			r.write("a", "edited")
			change(r, a)
			p := r.prepare(d)
			if a.index.scans == nil {
				t.Error("what was found ahead was used")
			}
			if got := r.texts(p.Tree); got["a"] != "edited" {
				t.Errorf("the checkpoint holds %v", got)
			}
		})
	}
}

// Nothing is written where wfs has not been, and what is not the simple case is left to git.
func TestAheadOnlyWhereItIsSimple(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("a", "a")
	r.run("add", "a")
	r.run("commit", "-q", "-m", "a")
	if a := aheadOf(r.root); a != nil {
		t.Error("a look where wfs has never been")
	}
	if _, err := os.Lstat(r.StateDir()); !absent(err) {
		t.Error("wfs left something there")
	}
	r, _ = aheadRepo(t)
	if a := aheadOf(filepath.Join(r.root, "d")); a == nil || a.root != r.root {
		t.Errorf("from below: %+v", a)
	}
	other := filepath.Join(r.home, "other")
	r.run("worktree", "add", "-q", "--detach", other)
	if a := aheadOf(other); a != nil {
		t.Error("a look in a linked work tree")
	}
	if a := aheadOf(filepath.Join(r.home, "nowhere")); a != nil {
		t.Error("a look at nothing")
	}
}
