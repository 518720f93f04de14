package refs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// testRepo is a repository in a temporary directory, untouched by the machine's and the user's configuration.
type testRepo struct {
	*Refs
	t    *testing.T
	home string
	env  []string
}

// at is the date of everything that tests commit.
const at = 1_700_000_000

// newRepo makes a repository with one commit that holds a.txt ("a\n"), and opens it. Further arguments go to git init.
func newRepo(t *testing.T, initArgs ...string) *testRepo {
	t.Helper()
	home := t.TempDir()
	r := &testRepo{t: t, home: home, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "gitconfig"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann",
		"GIT_COMMITTER_EMAIL=ann@example.org", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_DATE=1700000000 +0000", "LC_ALL=C", "TZ=UTC",
	}}
	root := filepath.Join(home, "repo")
	r.must(os.MkdirAll(root, 0o755))
	r.Refs = New(gitcmd.New(gitcmd.Place{Root: root}), nil)
	r.run(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	r.write("a.txt", "a\n")
	r.run("add", "a.txt")
	r.run("commit", "-q", "-m", "first")
	r.open(root)
	return r
}

// open opens another directory as the repository under test, or the same one anew.
func (r *testRepo) open(dir string) {
	r.t.Helper()
	git, err := gitcmd.Open(context.Background(), gitcmd.Options{Dir: dir, Env: r.env})
	r.must(err)
	r.Refs = New(git, object.New(git))
}

func (r *testRepo) run(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.Git.Root, r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (r *testRepo) path(name string) string {
	return filepath.Join(r.Git.Root, filepath.FromSlash(name))
}

func (r *testRepo) write(name, text string) { r.t.Helper(); r.put(r.path(name), text) }

func (r *testRepo) put(path, text string) {
	r.t.Helper()
	r.must(os.MkdirAll(filepath.Dir(path), 0o755))
	r.must(os.WriteFile(path, []byte(text), 0o644))
}

func (r *testRepo) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// fsck fails the test if anything in the repository is damaged.
func (r *testRepo) fsck() {
	r.t.Helper()
	if out := r.run("fsck", "--full", "--strict", "--no-dangling", "--no-progress"); strings.Contains(out, "error") {
		r.t.Fatal(out)
	}
}
