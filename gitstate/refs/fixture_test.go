package refs

import (
	"context"
	"os"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

const at = testkit.GitDate

type testRepo struct {
	*Refs
	*testkit.GitRepo
}

// newRepo creates a repository and opens it. Further arguments are passed to git init.
func newRepo(t *testing.T, initArgs ...string) *testRepo {
	t.Helper()
	r := &testRepo{GitRepo: testkit.NewGitRepo(t, initArgs...)}
	git, err := gitcmd.Open(context.Background(), gitcmd.Options{Dir: r.Root, Env: r.Env})
	r.Must(err)
	r.Refs = New(git, object.New(git))
	return r
}
