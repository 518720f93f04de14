package autosave

import (
	"os"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
