package gitstate

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// TestEnvironmentIsScrubbed: variables that a hook or an agent left in the environment must not make git use another
// repository.
func TestEnvironmentIsScrubbed(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	other := newRepo(t)
	r.env = append(r.env, "GIT_DIR="+other.Git.GitDir, "GIT_WORK_TREE="+other.Git.Root, "GIT_INDEX_FILE=/nowhere/index",
		"GIT_OBJECT_DIRECTORY=/nowhere", "GIT_TRACE=1", "GIT_LITERAL_PATHSPECS=1", "GIT_NAMESPACE=x")
	root := r.Git.Root
	r.open(root)
	if r.Root() != root {
		t.Fatalf("opened %s", r.Root())
	}
	if s := r.snapshot(); len(s.Skipped) > 0 || s.Tree == "" {
		t.Errorf("%+v", s)
	}
	kept := gitcmd.CleanEnv([]string{"PATH=x", "GIT_CONFIG_KEY_0=a", "GIT_AUTHOR_NAME=b", "GIT_SSH_COMMAND=c",
		"GIT_DIR=d", "GIT_CONFIGX=e"})
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
		"unborn":   {func(r *testRepo) { r.run("switch", "-q", "--orphan", "new") }, gitcmd.NotBorn},
		"detached": {func(r *testRepo) { r.run("switch", "-q", "--detach") }, gitcmd.NotOnBranch},
		"merge":    {leaveConflict, gitcmd.NotDone},
		"unmerged": {func(r *testRepo) { leaveConflict(r); os.Remove(r.Git.GitDir + "/MERGE_HEAD") }, gitcmd.NotMerged},
		"bisect":   {func(r *testRepo) { r.run("bisect", "start") }, gitcmd.NotDone},
		"branch":   {func(r *testRepo) { r.run("branch", "wfs") }, gitcmd.NotNamespace},
		"packed":   {func(r *testRepo) { r.run("branch", "wfs"); r.run("pack-refs", "--all") }, gitcmd.NotNamespace},
		"identity": {func(r *testRepo) {
			r.env = slices.DeleteFunc(r.env, func(kv string) bool { return strings.HasPrefix(kv, "GIT_COMMITTER_") })
			r.open(r.Git.Root)
		}, gitcmd.NotIdentified},
		"our lock": {func(r *testRepo) { mustWrite(r, r.Git.IndexPath()+".lock", string(gitcmd.LockMark)) }, ""},
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
			var ready *gitcmd.ReadyError
			if errors.As(err, &ready) {
				if ready.Code != c.want || ready.Error() == "" {
					t.Errorf("%s: %v", ready.Code, err)
				}
			} else if err != nil || c.want != "" {
				t.Errorf("%v, want %s", err, c.want)
			}
			if c.want == gitcmd.NotOnBranch {
				if err := r.Ready(context.Background(), true); err != nil {
					t.Errorf("allowed: %v", err)
				}
			}
		})
	}
}
