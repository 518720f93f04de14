package gitstate

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/snapshot"
	"github.com/wfs-dev/wfs/session"
)

// TestUnseenEditsAreNamedAndLeftAlone has local settings in a tracked file: git is set to ignore its changes, and
// regards the file as unchanged in a checkout. No snapshot has the edits, so they must be reported, and no move may
// overwrite them.
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

// TestUnseenFilesMove: such a file without edits is part of a move, and the index follows, whether the target has
// another file, none, or a directory there.
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
				for range 2 { // after a kill, a move is settled again
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

// TestSparseCheckout: a snapshot has files outside of the patterns of a sparse checkout like all others, and the new
// index of a turn marks missing ones as absent on purpose.
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

// TestSparseCheckoutDeletesNothing: ignored files outside of the patterns of a sparse checkout stay. A file of the tree
// may go, because git has it.
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
			if got := r.run("status", "--porcelain"); got != "M  in/x" { // staged; the commit has the other content
				t.Errorf("status: %q", got)
			}
			if s := r.snapshot(); s.Tree != old.Tree || len(s.Skipped) > 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestSparseCheckoutKeepsMarks: a move keeps marks that the user has set inside of the patterns, on a file with local
// settings, where git respects that, and on a deleted file: the next snapshot has neither the settings nor the
// deletion.
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
				} else { // git ignores skip-worktree there
					r.run("update-index", "--assume-unchanged", "in/mine")
				}
				r.run("update-index", "--skip-worktree", "in/gone")
				r.write("in/mine", "my own\n")
				now := r.snapshot()
				r.write("in/x", "x\n")
				for range 2 { // after a kill, a move is settled again
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

// TestEditedSubmodulesAreNamed: a snapshot has a submodule's commit but not its edits: these are reported.
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

// TestStagedSubmodules: a checkpoint has a submodule that `git submodule add` has staged, as a commit would, and it
// stays staged; a repository that was only added is not in the checkpoint. A move to an earlier tree reports that the
// submodule is in the way.
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

// TestEditedLines counts what differs from a commit, also files that the index lacks and the commit has.
func TestEditedLines(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("edited", "1\n2\n3\n")
	r.write("same", "s\n")
	r.write("other", "o\n")
	r.write("deleted", "d\nd\n")
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "x")
	since := session.Commit(strings.TrimSpace(r.run("rev-parse", "HEAD")))
	r.run("rm", "-q", "--cached", "same", "other")
	r.write("edited", "1\n3\nno line break")
	r.write("other", "o\np\n")
	r.write("new", "a\nb\nc\n")
	r.write(".wfs/config.yaml", "x\n")
	if err := os.Remove(filepath.Join(r.Git.Root, "deleted")); err != nil {
		t.Fatal(err)
	}
	files, err := r.EditedLines(t.Context(), since, "")
	slices.SortFunc(files, func(x, y session.FileLines) int { return strings.Compare(x.Path, y.Path) })
	want := []session.FileLines{{Path: "deleted", Removed: 2}, {Path: "edited", Added: 1, Removed: 1},
		{Path: "new", Added: 3}, {Path: "other", Binary: true}}
	if err != nil || !slices.Equal(files, want) {
		t.Errorf("%v %+v, want %+v", err, files, want)
	}
}
