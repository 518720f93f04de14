package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// GitRepo is a repository for tests of packages that call git themselves. It ignores the git configuration of the
// machine and of the user. All commits in it have the same author and date.
type GitRepo struct {
	T          testing.TB
	Home, Root string // Root is the work tree, and Home the directory that contains it
	Env        []string
}

// GitDate is the date of all commits that are made in a GitRepo, in Unix seconds.
const GitDate = 1_700_000_000

// NewGitRepo creates a repository with one commit on branch main. The commit has one file, a.txt ("a\n"). `initArgs`
// are further arguments of git init.
func NewGitRepo(t testing.TB, initArgs ...string) *GitRepo {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &GitRepo{T: t, Home: home, Root: filepath.Join(home, "repo"), Env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "gitconfig"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann",
		"GIT_COMMITTER_EMAIL=ann@example.org", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_DATE=1700000000 +0000", "LC_ALL=C", "TZ=UTC",
	}}
	r.Must(os.MkdirAll(r.Root, 0o755))
	r.Run(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	Write(t, r.Root, "a.txt", "a\n")
	r.Run("add", "a.txt")
	r.Run("commit", "-q", "-m", "first")
	return r
}

// Run runs a git command as the user would, and returns its output without the last newline. If the command fails, Run
// fails the test.
func (r *GitRepo) Run(args ...string) string {
	r.T.Helper()
	out, err := r.TryGit(args...)
	if err != nil {
		r.T.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// TryGit runs a git command as Run does, but returns an error if the command fails.
func (r *GitRepo) TryGit(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.Root, r.Env
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

// Path returns the path of a file in the work tree. `name` is relative to the work tree, with slashes.
func (r *GitRepo) Path(name string) string { return filepath.Join(r.Root, filepath.FromSlash(name)) }

// Must fails the test if err is not nil.
func (r *GitRepo) Must(err error) {
	r.T.Helper()
	if err != nil {
		r.T.Fatal(err)
	}
}

// Fsck fails the test if git fsck finds damage in the repository.
func (r *GitRepo) Fsck() {
	r.T.Helper()
	if out := r.Run("fsck", "--full", "--strict", "--no-dangling", "--no-progress"); strings.Contains(out, "error") {
		r.T.Fatal(out)
	}
}
