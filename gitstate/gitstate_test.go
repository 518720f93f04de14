package gitstate

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
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
const at = 1_700_000_000

// newRepo creates a repository on branch main with one commit that has a.txt ("a\n"), and opens it. initArgs are passed
// to git init.
func newRepo(t *testing.T, initArgs ...string) *testRepo {
	t.Helper()
	home := t.TempDir()
	root := filepath.Join(home, "repo")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	r := &testRepo{Repo: repoOf(gitcmd.New(gitcmd.Place{Root: root})), t: t, home: home, env: testEnv(home)}
	r.run(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	r.write("a.txt", "a\n")
	r.run("add", "a.txt")
	r.run("commit", "-q", "-m", "first")
	r.open(root)
	return r
}

func testEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"GIT_CONFIG_GLOBAL=" + filepath.Join(home, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000",
		"LC_ALL=C", "TZ=UTC",
	}
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

// run runs git as the user would and returns its output, without the last line feed.
func (r *testRepo) run(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// try is run for commands that may fail.
func (r *testRepo) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.Git.Root, r.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

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
