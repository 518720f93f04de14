package process

import (
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
)

// GateMarker is the beginning of the environment entry by which the processes of a gate are found. The path of the
// gate's report file follows.
const GateMarker = "WFS_GATE_RUN="

// BeganFile is the file in a run's directory that says when the run's first process began, as given by proc.Moment.
const BeganFile = "began"

// MaxBegan limits BeganFile, in bytes.
const MaxBegan = 1 << 10

// KeepBegan writes BeganFile just before the first process of a run begins. Without this file it cannot be proven that
// a process belongs to the run, because a process id may have been used before.
func KeepBegan(runDir string) {
	path := filepath.Join(runDir, BeganFile)
	if _, err := os.Lstat(path); err != nil {
		_ = durable.WriteCache(path, []byte(proc.Moment()), 0o600)
	}
}
