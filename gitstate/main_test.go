package gitstate

import (
	"flag"
	"os"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) {
	if !testkit.AllRows() {
		_ = flag.Set("rapid.checks", "34") // of a hundred; an argument of the command line comes later, and wins
	}
	os.Exit(testkit.Main(m))
}
