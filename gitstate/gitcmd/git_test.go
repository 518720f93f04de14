package gitcmd

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	real := func(path string) string {
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	top := real(r.home + "/repo")
	sub := filepath.Join(r.Root, "dir", "sub")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	r.open(sub)
	if r.Root != top || r.GitDir != filepath.Join(top, ".git") || r.CommonDir != r.GitDir || r.Worktree != "main" || r.StateDir() != filepath.Join(top, ".git", "wfs") {
		t.Errorf("%+v", r.Git)
	}
	r.run("worktree", "add", "-q", r.home+"/side")
	r.open(r.home + "/side")
	if r.Root != real(r.home+"/side") || r.CommonDir != filepath.Join(top, ".git") || r.Worktree != "side" {
		t.Errorf("%+v", r.Git)
	}
	if _, err := os.Stat(r.StateDir()); err == nil {
		t.Error("Open made the state directory")
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	bare := r.home + "/bare"
	r.run("init", "-q", "--bare", bare)
	fake := filepath.Join(r.home, "bin")
	if err := os.MkdirAll(fake, 0o755); err != nil {
		t.Fatal(err)
	}
	old := "#!/bin/sh\ncase \"$*\" in *version*) echo git version 2.17.1;; *) echo 'error: unknown option' >&2; exit 129;; esac\n"
	if err := os.WriteFile(filepath.Join(fake, "git"), []byte(old), 0o755); err != nil {
		t.Fatal(err)
	}
	path := func(p string) []string { return append(slices.Clone(r.env), "PATH="+p) }
	for name, c := range map[string]struct {
		dir  string
		env  []string
		want error
	}{
		"no repository": {r.home, r.env, ErrNotRepository},
		"bare":          {bare, r.env, ErrBare},
		"git directory": {r.GitDir, r.env, ErrNoWorkTree},
		"no git":        {r.Root, path(r.home), ErrNoGit},
		"old git":       {r.Root, path(fake + ":/usr/bin:/bin"), ErrGitTooOld},
	} {
		if _, err := Open(context.Background(), Options{Dir: c.dir, Env: c.env}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(context.Background(), Options{Dir: r.home + "/nowhere", Env: r.env}); err == nil || errors.Is(err, ErrNoGit) {
		t.Errorf("no directory: %v", err)
	}
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Version{
		"git version 2.39.5\n": {2, 39}, "git version 2.34.1": {2, 34}, "git version 2.39.5 (Apple Git-154)\n": {2, 39},
		"git version 2.45.GIT": {2, 45}, "git version 2.48.1.windows.1": {2, 48}, "git version 3.0-rc1": {3, 0},
	} {
		if got, err := parseVersion(text); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "git version", "hello", "git version x.y"} {
		if _, err := parseVersion(text); err == nil {
			t.Errorf("%q passes", text)
		}
	}
	if !(Version{2, 33}).before(minVersion) || (Version{2, 34}).before(minVersion) || (Version{3, 0}).before(minVersion) {
		t.Error("versions are not in order")
	}
}

// TestTracedVersion: the version comes with the answer to another question, and is the same as that of `git version`.
func TestTracedVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Version{
		"version 2.39.5\nstart git rev-parse\n": {2, 39}, "version 2.48.1.windows.1\n": {2, 48},
	} {
		if got, _, ok := ReadTrace(text); got != want || !ok {
			t.Errorf("%q: %v, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "start git version 2.39\n", "version x.y\n", "warning: version 2.39\n", "version 2.39.5\nuser.name=B\n"} {
		if v, _, ok := ReadTrace(text); ok {
			t.Errorf("%q: %v", text, v)
		}
	}
	r := newRepo(t)
	_, said, err := r.RunBoth(t.Context(), Opts{Env: Traced}, "rev-parse", "--git-dir")
	if err != nil {
		t.Fatal(err)
	}
	got, _, ok := ReadTrace(string(said))
	if want, err := r.Answers.askVersion(t.Context()); err != nil || !ok || got != want {
		t.Errorf("%v, %t; asked for it, git says %v, %v", got, ok, want, err)
	}
}

// TestGitErrorNamesTheCommand: an error names the command, not its settings.
func TestGitErrorNamesTheCommand(t *testing.T) {
	for want, args := range map[string][]string{
		"git checkout: no":     {"-c", "core.splitIndex=false", "checkout", "--quiet", "x"},
		"git fetch: no":        {"-c", "a.b=c", "-c", "d.e=f", "fetch", "origin"},
		"git rev-parse: no":    {"rev-parse", "--git-dir"},
		"git update-index: no": {"-c", "core.splitIndex=false", "update-index", "-q"},
	} {
		if got := (&GitError{Args: args, Exit: 1, Stderr: "fatal: no\n"}).Error(); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}

// testRepo is a repository in a temporary directory, independent of the configuration of the machine and the user.
type testRepo struct {
	*Git
	t    *testing.T
	home string
	env  []string
}

// newRepo creates a repository with one commit, and opens it.
func newRepo(t *testing.T) *testRepo {
	t.Helper()
	home := t.TempDir()
	r := &testRepo{Git: New(Place{Root: filepath.Join(home, "repo")}), t: t, home: home, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "gitconfig"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org", "LC_ALL=C",
	}}
	if err := os.MkdirAll(r.Root, 0o755); err != nil {
		t.Fatal(err)
	}
	r.run("init", "-q", "-b", "main")
	r.run("commit", "-q", "--allow-empty", "-m", "first")
	r.open(r.Root)
	return r
}

func (r *testRepo) open(dir string) {
	r.t.Helper()
	git, err := Open(context.Background(), Options{Dir: dir, Env: r.env})
	if err != nil {
		r.t.Fatal(err)
	}
	r.Git = git
}

func (r *testRepo) run(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.Root, r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}
