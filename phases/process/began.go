package process

import (
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
)

// GateMarker begins the entry by which processes of a gate are found; what its run leaves in the run's
// directory follows.
const GateMarker = "WFS_GATE_RUN="

// BeganFile is the file in a run's directory that says when its first process began (proc.Moment).
const BeganFile = "began"

// MaxBegan bounds BeganFile, in bytes.
const MaxBegan = 1 << 10

// KeepBegan writes down when the first process of a run is about to begin. Without it nothing is proven later.
func KeepBegan(runDir string) {
	path := filepath.Join(runDir, BeganFile)
	if _, err := os.Lstat(path); err != nil {
		_ = durable.WriteCache(path, []byte(proc.Moment()), 0o600)
	}
}
