package gitstate

import (
	"context"
	"errors"
	"os"
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
	r.write("dir/sub/f", "f")
	r.open(r.path("dir/sub"))
	if r.Root() != top || r.GitDir() != filepath.Join(top, ".git") || r.CommonDir() != r.GitDir() || r.Worktree() != "main" || r.StateDir() != filepath.Join(top, ".git", "wfs") {
		t.Errorf("%+v", r.Repo)
	}
	r.run("worktree", "add", "-q", r.home+"/side")
	r.open(r.home + "/side")
	if r.Root() != real(r.home+"/side") || r.CommonDir() != filepath.Join(top, ".git") || r.Worktree() != "side" {
		t.Errorf("%+v", r.Repo)
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
		"git directory": {r.gitDir, r.env, ErrNoWorkTree},
		"no git":        {r.root, path(r.home), ErrNoGit},
		"old git":       {r.root, path(fake + ":/usr/bin:/bin"), ErrGitTooOld},
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
	if !(Version{2, 33}).before(MinVersion) || (Version{2, 34}).before(MinVersion) || (Version{3, 0}).before(MinVersion) {
		t.Error("versions are not in order")
	}
}

// The version comes with another question, and is the same as when git is asked for it.
func TestTracedVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Version{
		"version 2.39.5\nstart git rev-parse\n": {2, 39}, "version 2.48.1.windows.1\n": {2, 48},
	} {
		if got, _, ok := readTrace(text); got != want || !ok {
			t.Errorf("%q: %v, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "start git version 2.39\n", "version x.y\n", "warning: version 2.39\n", "version 2.39.5\nuser.name=B\n"} {
		if v, _, ok := readTrace(text); ok {
			t.Errorf("%q: %v", text, v)
		}
	}
	r := newRepo(t)
	_, said, err := r.gitBoth(t.Context(), gitOpts{env: traced}, "rev-parse", "--git-dir")
	r.must(err)
	got, _, ok := readTrace(string(said))
	if want, err := r.askVersion(t.Context()); err != nil || !ok || got != want {
		t.Errorf("%v, %t; asked for it, git says %v, %v", got, ok, want, err)
	}
}

// What a hook or an agent left in the environment must not lead git to another repository.
func TestEnvironmentIsScrubbed(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	other := newRepo(t)
	r.env = append(r.env, "GIT_DIR="+other.gitDir, "GIT_WORK_TREE="+other.root, "GIT_INDEX_FILE=/nowhere/index",
		"GIT_OBJECT_DIRECTORY=/nowhere", "GIT_TRACE=1", "GIT_LITERAL_PATHSPECS=1", "GIT_NAMESPACE=x")
	root := r.root
	r.open(root)
	if r.Root() != root {
		t.Fatalf("opened %s", r.Root())
	}
	if s := r.snapshot(); len(s.Skipped) > 0 || s.Tree == "" {
		t.Errorf("%+v", s)
	}
	kept := cleanEnv([]string{"PATH=x", "GIT_CONFIG_KEY_0=a", "GIT_AUTHOR_NAME=b", "GIT_SSH_COMMAND=c", "GIT_DIR=d", "GIT_CONFIGX=e"})
	if got := strings.Join(kept, " "); got != "PATH=x GIT_CONFIG_KEY_0=a GIT_AUTHOR_NAME=b GIT_SSH_COMMAND=c" {
		t.Error(got)
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		break_ func(r *testRepo)
		want   string
	}{
		"ready":    {func(r *testRepo) {}, ""},
		"unborn":   {func(r *testRepo) { r.run("switch", "-q", "--orphan", "new") }, NotBorn},
		"detached": {func(r *testRepo) { r.run("switch", "-q", "--detach") }, NotOnBranch},
		"merge":    {leaveConflict, NotDone},
		"unmerged": {func(r *testRepo) { leaveConflict(r); os.Remove(r.gitDir + "/MERGE_HEAD") }, NotMerged},
		"bisect":   {func(r *testRepo) { r.run("bisect", "start") }, NotDone},
		"branch":   {func(r *testRepo) { r.run("branch", "wfs") }, NotNamespace},
		"packed":   {func(r *testRepo) { r.run("branch", "wfs"); r.run("pack-refs", "--all") }, NotNamespace},
		"identity": {func(r *testRepo) {
			r.env = slices.DeleteFunc(r.env, func(kv string) bool { return strings.HasPrefix(kv, "GIT_COMMITTER_") })
			r.open(r.root)
		}, NotIdentified},
		"our lock": {func(r *testRepo) { mustWrite(r, r.indexPath()+".lock", string(lockMark)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			c.break_(r)
			err := r.Ready(context.Background(), false)
			if err == nil {
				err = r.Able(context.Background())
			}
			if err == nil {
				err = r.Identified(context.Background())
			}
			var ready *ReadyError
			if errors.As(err, &ready) {
				if ready.Code != c.want || ready.Error() == "" {
					t.Errorf("%s: %v", ready.Code, err)
				}
			} else if err != nil || c.want != "" {
				t.Errorf("%v, want %s", err, c.want)
			}
			if c.want == NotOnBranch {
				if err := r.Ready(context.Background(), true); err != nil {
					t.Errorf("allowed: %v", err)
				}
			}
		})
	}
}
