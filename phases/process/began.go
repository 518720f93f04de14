package process

import (
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
)

// GateMarker begins the environment entry by which processes of a gate are found. The path of the gate's report file
// follows.
const GateMarker = "WFS_GATE_RUN="

// BeganFile is the file in a run's directory with the time when its first process began (proc.Moment).
const BeganFile = "began"

// MaxBegan limits BeganFile, in bytes.
const MaxBegan = 1 << 10

// KeepBegan records when the first process of a run is about to begin. Without it nothing can be proven about old
// processes.
func KeepBegan(runDir string) {
	path := filepath.Join(runDir, BeganFile)
	if _, err := os.Lstat(path); err != nil {
		_ = durable.WriteCache(path, []byte(proc.Moment()), 0o600)
	}
}
