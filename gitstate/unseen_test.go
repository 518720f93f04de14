package gitstate

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/snapshot"
	"github.com/wfs-dev/wfs/session"
)

// Settings of one's own in a tracked file: git is told not to look, and takes the file for unchanged when it checks
// something out. No snapshot has the edits, so they must be named, and no move may write over them.
func TestUnseenEditsAreNamedAndLeftAlone(t *testing.T) {
	t.Parallel()
	for _, bit := range []string{"assume-unchanged", "skip-worktree"} {
		for _, index := range []string{"", "--split-index"} {
			t.Run(bit+index, func(t *testing.T) {
				t.Parallel()
				r := newRepo(t)
				r.write("same.txt", "same\n")
				r.write("sub/gone.txt", "not there\n")
				r.write("a.txt", "theirs\n")
				r.run("add", "-A")
				theirs := session.Tree(r.run("write-tree"))
				r.write("a.txt", "a\n")
				r.run("add", "-A")
				r.run("commit", "-q", "-m", "second")
				r.run("update-index", "--"+bit, "a.txt", "same.txt", "sub/gone.txt")
				if index != "" {
					r.run("update-index", index)
				}
				r.remove(r.path("sub/gone.txt"))
				if s := r.snapshot(); len(s.Skipped) > 0 || s.Tree != s.HeadTree {
					t.Errorf("without an edit: %+v", s)
				}
				r.write("a.txt", "mine\n")
				s := r.snapshot()
				if !slices.Equal(s.Skipped, []session.Skip{{Path: "a.txt", Why: snapshot.WayUnseen}}) || s.Tree != s.HeadTree {
					t.Errorf("snapshot: %+v", s)
				}
				if got := r.inTheWay(theirs); !slices.Equal(got, []string{"a.txt"}) {
					t.Errorf("in the way: %q", got)
				}
				if got := r.read("a.txt"); got != "mine\n" {
					t.Errorf("a.txt: %q", got)
				}
				r.write("a.txt", "a\n")
				r.move(theirs)
				if got := r.read("a.txt"); got != "theirs\n" {
					t.Errorf("after a move, a.txt: %q", got)
				}
			})
		}
	}
}

// Such a file without an edit goes along with a move, and the index follows, whatever becomes of it.
func TestUnseenFilesMove(t *testing.T) {
	t.Parallel()
	for _, bit := range []string{"assume-unchanged", "skip-worktree"} {
		for name, before := range map[string]func(r *testRepo){
			"changed":            func(r *testRepo) { r.write("marked", "before\n") },
			"came":               func(r *testRepo) { r.write("other", "other\n") },
			"a directory before": func(r *testRepo) { r.write("marked/x", "x\n") },
		} {
			t.Run(bit+" "+name, func(t *testing.T) {
				t.Parallel()
				r := newRepo(t)
				r.run("switch", "-q", "-c", "wfs/x")
				before(r)
				r.commit()
				old := r.snapshot()
				r.try("rm", "-rq", "marked")
				r.write("marked", "now\n")
				r.write("a.txt", "now\n")
				r.commit()
				r.run("update-index", "--"+bit, "marked")
				now := r.snapshot()
				want := r.treeFiles(old.Tree)
				r.move(old.Tree)
				for range 2 { // killed after it, a move is settled again
					if _, err := r.Settle(t.Context(), "x", session.Turn{Index: old.Tree, IndexOld: now.Tree}); err != nil {
						t.Fatal(err)
					}
				}
				if got := r.run("write-tree"); got != string(old.Tree) {
					t.Errorf("the index is %s", got)
				}
				if got := r.run("status", "--porcelain"); strings.Contains(got, " M") || strings.Contains(got, "??") {
					t.Errorf("status: %q", got)
				}
				if s := r.snapshot(); s.Tree != old.Tree || len(s.Skipped) > 0 || !maps.Equal(want, r.treeFiles(s.Tree)) {
					t.Errorf("afterwards: %+v", s)
				}
			})
		}
	}
}

// A file outside of the patterns of a sparse checkout is part of a snapshot like every other, and the index that a turn
// leads to marks what is not there as not there on purpose.
func TestSparseCheckout(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("in/x.txt", "x\n")
	r.write("out/y.txt", "y\n")
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "second")
	r.run("switch", "-q", "-c", "wfs/x")
	old := r.snapshot()
	r.run("sparse-checkout", "set", "--cone", "in")
	r.write("in/x.txt", "edited\n")
	r.write("out/new.txt", "new\n")
	s := r.snapshot()
	if got, want := r.files(string(
		s.Tree)), "100644 a.txt\n100644 in/x.txt\n100644 out/new.txt\n100644 out/y.txt"; got != want || len(s.Skipped) > 0 {
		t.Errorf("snapshot holds\n%s\nwant\n%s\n%+v", got, want, s.Skipped)
	}
	r.remove(r.path("out/new.txt"))
	if _, err := r.Settle(context.Background(), "x", session.Turn{Index: s.Tree, IndexOld: old.Tree}); err != nil {
		t.Fatal(err)
	}
	if got := r.run("status", "--porcelain", "-uno"); got != "M  in/x.txt\nA  out/new.txt" {
		t.Errorf("status: %q", got)
	}
}

// What is ignored outside of the patterns of a sparse checkout stays there. A file of the tree may go: git keeps it.
func TestSparseCheckoutDeletesNothing(t *testing.T) {
	t.Parallel()
	for _, index := range []string{"--no-sparse-index", "--sparse-index"} {
		t.Run(index, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.run("switch", "-q", "-c", "wfs/x")
			r.write(".gitignore", "*.log\n")
			r.write("in/x", "x\n")
			r.write("out/y", "y\n")
			r.write("out/deep/z", "z\n")
			r.commit()
			old := r.snapshot()
			r.write("in/x", "edited\n")
			r.commit()
			r.run("sparse-checkout", "set", "--cone", index, "in")
			r.write("out/my.log", "mine\n")
			r.write("out/deep/my.log", "mine\n")
			r.write("out/y", "y\n")
			now := r.snapshot()
			r.move(old.Tree)
			if _, err := r.Settle(t.Context(), "x", session.Turn{Index: old.Tree, IndexOld: now.Tree}); err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{"out/my.log": "mine\n", "out/deep/my.log": "mine\n", "in/x": "x\n"} {
				if got, err := os.ReadFile(r.path(name)); err != nil || string(got) != want {
					t.Errorf("%s: %q, %v", name, got, err)
				}
			}
			if got := r.run("status", "--porcelain"); got != "M  in/x" { // the commit's own is the other one
				t.Errorf("status: %q", got)
			}
			if s := r.snapshot(); s.Tree != old.Tree || len(s.Skipped) > 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Marks that somebody has made himself inside of the patterns stay through a move, for a file with settings of
// his own, where git believes that, and for one that he deleted here: the next snapshot has neither the one nor
// the lack of the other.
func TestSparseCheckoutKeepsMarks(t *testing.T) {
	t.Parallel()
	for _, index := range []string{"--no-sparse-index", "--sparse-index"} {
		for _, expect := range []string{"true", "false"} {
			t.Run(index+" "+expect, func(t *testing.T) {
				t.Parallel()
				r := newRepo(t)
				r.run("switch", "-q", "-c", "wfs/x")
				for _, f := range []string{"in/x", "in/mine", "in/gone", "in/plain", "out/y"} {
					r.write(f, "x\n")
				}
				r.commit()
				old := r.snapshot()
				r.write("in/x", "edited\n")
				r.commit()
				r.run("config", "sparse.expectFilesOutsideOfPatterns", expect)
				r.run("sparse-checkout", "set", "--cone", index, "in")
				r.mustRemove("in/gone")
				marks := "H a.txt H in/plain H in/x S in/gone S out/y h in/mine"
				if expect == "true" {
					r.run("update-index", "--skip-worktree", "in/mine")
					marks = "H a.txt H in/plain H in/x S in/gone S in/mine S out/y"
				} else { // there git makes nothing of it
					r.run("update-index", "--assume-unchanged", "in/mine")
				}
				r.run("update-index", "--skip-worktree", "in/gone")
				r.write("in/mine", "my own\n")
				now := r.snapshot()
				r.write("in/x", "x\n")
				for range 2 { // killed after it, a move is settled again
					if _, err := r.Settle(t.Context(), "x", session.Turn{Index: old.Tree, IndexOld: now.Tree}); err != nil {
						t.Fatal(err)
					}
					found := strings.Split(r.run("ls-files", "-v"), "\n")
					slices.Sort(found)
					if got := strings.Join(found, " "); got != marks {
						t.Errorf("marks: %s", got)
					}
				}
				if s := r.snapshot(); s.Tree != old.Tree || paths(s.Skipped) != "in/mine" {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}

// A submodule's commits are held, its edits are not: they are named.
func TestEditedSubmodulesAreNamed(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	lib := newRepo(t)
	for _, name := range []string{"lib a", "lib b", "away"} {
		r.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Git.Root, name)
	}
	r.run("commit", "-q", "-m", "libs")
	r.run("submodule", "--quiet", "deinit", "away")
	if s := r.snapshot(); len(s.Skipped) > 0 {
		t.Errorf("nothing was edited: %+v", s.Skipped)
	}
	r.write("lib a/a.txt", "edited\n")
	r.write("lib b/new.txt", "new\n")
	if got := paths(r.snapshot().Skipped); got != "lib a lib b" {
		t.Errorf("skipped %q", got)
	}
	for _, name := range []string{"lib a", "lib b"} {
		r.run("-C", name, "add", "-A")
		r.run("-C", name, "commit", "-q", "-m", "there")
	}
	if s := r.snapshot(); len(s.Skipped) > 0 || s.Clean() {
		t.Errorf("committed there: %+v", s)
	}
}

// What `git submodule add` has staged is in a checkpoint as it would be in a commit, and stays staged; a
// repository that was only added is not. A move to before it says that it is in the way.
func TestStagedSubmodules(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	lib := newRepo(t)
	before := r.snapshot().Tree
	r.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--name", "x=y", lib.Git.Root, "dir/a sub")
	r.run("clone", "-q", lib.Git.Root, "other")
	r.run("-c", "advice.addEmbeddedRepo=false", "add", "other")
	gitlink := "160000 dir/a sub"
	s := r.snapshot()
	if got := r.files(string(s.Tree)); !strings.Contains(got, gitlink) || !strings.Contains(got, ".gitmodules") ||
		strings.Contains(got, "other") {
		t.Errorf("a snapshot holds\n%s", got)
	}
	if got := paths(s.Skipped); got != "other" {
		t.Errorf("skipped %q", got)
	}
	if got := r.inTheWay(before); !slices.Equal(got, []string{"dir/a sub"}) {
		t.Errorf("in the way: %q", got)
	}
	if got := r.files(string(r.prepare(r.draft("")).Tree)); !strings.Contains(got, gitlink) {
		t.Errorf("a checkpoint holds\n%s", got)
	}
	if got := r.run("ls-files", "-s", "dir"); !strings.HasPrefix(got, "160000 ") {
		t.Errorf("the index has %q", got)
	}
	if got := r.Files.Nested("dir/a sub/a.txt"); got != "dir/a sub" || r.Files.Nested("dir") != "" ||
		r.Files.Nested("a.txt") != "" {
		t.Errorf("%q is a repository", got)
	}
}
