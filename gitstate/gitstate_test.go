package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/session"
)

// testRepo is a repository in a temporary directory, independent of the configuration of the machine and the user.
type testRepo struct {
	*Repo
	t    *testing.T
	home string
	env  []string
}

// at is the date of all commits of tests.
const at = testkit.GitDate

// newRepo creates a repository on branch main with one commit that has a.txt ("a\n"), and opens it. initArgs are passed
// to git init.
func newRepo(t *testing.T, initArgs ...string) *testRepo {
	t.Helper()
	g := testkit.NewGitRepo(t, initArgs...)
	r := &testRepo{t: t, home: g.Home, env: g.Env}
	r.open(g.Root)
	return r
}

// open opens another directory as the repository under test, or the same one again.
func (r *testRepo) open(dir string) {
	r.t.Helper()
	repo, err := Open(context.Background(), gitcmd.Options{Dir: dir, Env: r.env})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(repo.Quiet) // otherwise it might still work in a directory that is being removed
	r.Repo = repo
}

// git is the repository at the root that is open now, for git commands of a user.
func (r *testRepo) git() *testkit.GitRepo {
	return &testkit.GitRepo{T: r.t, Root: r.Git.Root, Env: r.env}
}

// run runs git as the user would and returns its output, without the last line feed.
func (r *testRepo) run(args ...string) string {
	r.t.Helper()
	return r.git().Run(args...)
}

// try is run for commands that may fail.
func (r *testRepo) try(args ...string) (string, error) { return r.git().TryGit(args...) }

func (r *testRepo) path(name string) string {
	return filepath.Join(r.Git.Root, filepath.FromSlash(name))
}

// write writes a file of the work tree and creates its directories.
func (r *testRepo) write(name, content string) {
	r.t.Helper()
	path := r.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *testRepo) read(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(r.path(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

func (r *testRepo) head() session.Commit { return session.Commit(r.run("rev-parse", "HEAD")) }

// snapshot takes a snapshot without excludes, and fails the test on errors.
func (r *testRepo) snapshot() session.Snapshot {
	r.t.Helper()
	s, err := r.Files.Snapshot(context.Background(), "")
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// files lists a tree as "mode path" lines.
func (r *testRepo) files(tree string) string {
	r.t.Helper()
	var lines []string
	// mode type id, a tab, the path; --format came with 2.36
	for line := range strings.Lines(r.run("ls-tree", "-r", tree)) {
		meta, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		lines = append(lines, meta[:6]+" "+path)
	}
	return strings.Join(lines, "\n")
}

// fsck fails the test if anything in the repository is damaged.
func (r *testRepo) fsck() {
	r.t.Helper()
	if out := r.run("fsck", "--full", "--strict", "--no-dangling", "--no-progress"); strings.Contains(out, "error") {
		r.t.Fatal(out)
	}
}

func (r *testRepo) link(to, name string) {
	r.t.Helper()
	r.must(os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
	r.must(os.Symlink(filepath.FromSlash(to), r.path(name)))
}

func (r *testRepo) commit() {
	r.t.Helper()
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "all")
}

func (r *testRepo) submodule(name string) {
	r.t.Helper()
	lib := newRepo(r.t)
	r.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Git.Root, name)
	r.run("commit", "-q", "-m", name)
}
