package gitstate

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// TestLedAway: if core.worktree is set while wfs runs, wfs still uses the files that gates judge; and no command begins
// if it points elsewhere.
func TestLedAway(t *testing.T) {
	t.Parallel()
	for name, lead := range map[string]func(r *testRepo, to string){
		"the repository": func(r *testRepo, to string) { r.run("config", "core.worktree", to) },
		"on one line": func(r *testRepo, to string) {
			r.write(".git/config", r.read(".git/config")+"[core] WorkTree = "+to+"\n")
		},
		"of one work tree's": func(r *testRepo, to string) {
			r.run("config", "extensions.worktreeConfig", "true")
			r.run("config", "--worktree", "core.worktree", to)
		},
	} {
		for _, other := range []bool{false, true} { // it points to a repository of its own
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := newRepo(t)
				old := r.snapshot()
				r.write("../else/a.txt", "evil\n")
				if other {
					r.run("init", "-q", "../else")
				}
				r.write("a.txt", "good\n")
				lead(r, filepath.Join(r.home, "else"))
				s := r.snapshot()
				if got := r.treeFiles(s.Tree)["a.txt"]; got != "good\n" {
					t.Errorf("the snapshot has %q", got)
				}
				r.move(old.Tree)
				if a, b := r.read("a.txt"), r.read("../else/a.txt"); a != "a\n" || b != "evil\n" {
					t.Errorf("moved to %q, elsewhere %q", a, b)
				}
				var unusable *gitcmd.UnusableError
				if _, err := Open(t.Context(), gitcmd.Options{Dir: r.Git.Root, Env: r.env}); !errors.As(err, &unusable) ||
					unusable.Hint != "git config --unset core.worktree" {
					t.Errorf("opened: %v", err)
				}
			})
		}
	}
}

// TestLedHome: in a submodule, that setting is correct.
func TestLedHome(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.submodule("sub")
	in, err := Open(t.Context(), gitcmd.Options{Dir: r.path("sub"), Env: r.env, Write: true})
	if err != nil || !in.Git.Led() {
		t.Fatal(err)
	}
	r.write("sub/a.txt", "edited\n")
	s, err := in.Files.Snapshot(t.Context(), "")
	if err != nil || s.Tree == s.HeadTree || s.Tree == session.Tree("") {
		t.Errorf("%+v, %v", s, err)
	}
}
