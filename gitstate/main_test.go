package gitstate

import (
	"flag"
	"os"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) {
	if !testkit.AllRows() {
		// of a hundred; an argument of the command line is parsed later, and overrides it
		_ = flag.Set("rapid.checks", "34")
	}
	os.Exit(testkit.Main(m))
}
