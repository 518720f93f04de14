package stories

import (
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

var plainTemplate testkit.Template

// plain returns a repository with two trusted sessions.
func plain(t *testing.T) *testkit.Repo {
	t.Helper()
	r := plainTemplate.Copy(t, (*testkit.Repo).Plain)
	testkit.OwnClone(t, r.Dir)
	r.Trust("one", "two")
	return r
}
