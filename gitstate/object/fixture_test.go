package object

import (
	"context"
	"os"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

const at = testkit.GitDate

type testRepo struct {
	*Store
	*testkit.GitRepo
}

// newRepo creates a repository and opens it. Further arguments are passed to git init.
func newRepo(t *testing.T, initArgs ...string) *testRepo {
	t.Helper()
	r := &testRepo{GitRepo: testkit.NewGitRepo(t, initArgs...)}
	r.open(r.Root)
	return r
}

// open opens another directory as the repository under test, or the same one again.
func (r *testRepo) open(dir string) {
	r.T.Helper()
	git, err := gitcmd.Open(context.Background(), gitcmd.Options{Dir: dir, Env: r.Env})
	r.Must(err)
	r.Store, r.Root = New(git), git.Root
}
