//go:build linux && amd64

package safety

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/faults"
	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestBar10ReadersChangeNothing checks that reading commands and the gits that they run make no system call that
// changes a file, and so take no lock.
func TestBar10ReadersChangeNothing(t *testing.T) {
	t.Parallel()
	wfs, err := exec.LookPath("wfs")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, s := range unread {
		t.Run(s.name, func(t *testing.T) {
			testkit.Sample(t)
			f := plainTemplate.fixture(t)
			s.build(f)
			for _, args := range reading {
				argv := []string{wfs}
				if args != "" {
					argv = append(argv, strings.Split(args, " ")...)
				}
				out := testkit.Traced(t, faults.Command{Argv: argv, Dir: f.dir, Env: f.env, Root: f.dir}, faults.Fault{Mode: faults.Run})
				for _, c := range out.Calls {
					t.Errorf("wfs %s: %s", args, c)
				}
				asked++
			}
		})
	}
	t.Logf("%d commands", asked)
}
