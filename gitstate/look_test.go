package gitstate

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSnapshotIsWhatGitAdds: after all kinds of changes, a snapshot has the same files as after `git add -A`.
func TestSnapshotIsWhatGitAdds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *testRepo){
		"nothing":        func(r *testRepo) {},
		"edit":           func(r *testRepo) { r.write("d/deep/a", "other") },
		"in place of":    func(r *testRepo) { r.write("d/deep/tmp", "new"); r.mustRename("d/deep/tmp", "d/deep/a") },
		"new":            func(r *testRepo) { r.write("d/deep/new", "x") },
		"new directory":  func(r *testRepo) { r.write("d/more/new", "x") },
		"removed":        func(r *testRepo) { r.mustRemove("d/deep/a") },
		"all removed":    func(r *testRepo) { r.mustRemove("d") },
		"executable":     func(r *testRepo) { r.must(os.Chmod(r.path("d/deep/a"), 0o755)) },
		"file to link":   func(r *testRepo) { r.mustRemove("d/b"); r.must(os.Symlink("deep", r.path("d/b"))) },
		"dir to link":    func(r *testRepo) { r.mustRemove("d/deep"); r.must(os.Symlink("../e", r.path("d/deep"))) },
		"dir to file":    func(r *testRepo) { r.mustRemove("d/deep"); r.write("d/deep", "file") },
		"file to dir":    func(r *testRepo) { r.mustRemove("d/b"); r.write("d/b/in", "x") },
		"no more in git": func(r *testRepo) { r.run("rm", "-q", "--cached", "d/b") },
		"added, gone":    func(r *testRepo) { r.write("d/c", "x"); r.run("add", "d/c"); r.mustRemove("d/c") },
		"meant to come":  func(r *testRepo) { r.write("d/c", "x"); r.run("add", "-N", "d/c") },
		"ignored":        func(r *testRepo) { r.write(".gitignore", "*.o\n"); r.write("d/x.o", "x") },
		"a repository":   func(r *testRepo) { r.run("init", "-q", "d/deep"); r.write("d/deep/new", "x") },
		"taken out":      func(r *testRepo) { r.run("rm", "-q", "-r", "d"); r.write("d/deep/a", "x") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			for _, f := range []string{"d/deep/a", "d/b", "e/f/g"} {
				r.write(f, f)
			}
			r.run("add", "-A")
			r.run("commit", "-q", "-m", "tracked")
			change(r)
			got := r.snapshot().Tree
			index := filepath.Join(t.TempDir(), "index")
			data, err := os.ReadFile(r.Git.IndexPath())
			r.must(err)
			r.must(os.WriteFile(index, data, 0o600))
			r.env = append(r.env, "GIT_INDEX_FILE="+index)
			r.run("add", "-A", "--ignore-errors")
			if want := r.run("write-tree"); string(got) != want {
				t.Errorf("%s, git add -A makes %s:\n%s", got, want, r.run("diff", "--stat", string(got), want))
			}
		})
	}
}

func (r *testRepo) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *testRepo) mustRemove(name string) { r.t.Helper(); r.must(os.RemoveAll(r.path(name))) }
func (r *testRepo) mustRename(from, to string) {
	r.t.Helper()
	r.must(os.Rename(r.path(from), r.path(to)))
}

// Some rules apply only to directories.
func TestSnapshotOfAFileInPlaceOfAnIgnoredDirectory(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	r.write(".gitignore", "build/\n")
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "rules")
	r.write("build/x", "ignored")
	r.snapshot()
	r.mustRemove("build")
	r.write("build", "a file")
	if got := r.run("ls-tree", "--name-only", string(r.snapshot().Tree)); got != ".gitignore\na.txt\nbuild" {
		t.Errorf("%q", got)
	}
}
