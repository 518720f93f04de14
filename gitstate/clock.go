package gitstate

import (
	"os"
	"path/filepath"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// fileTime is now, by the clock of the file system, in nanoseconds; 0 when that cannot be told.
func (r *Repo) fileTime() uint64 {
	path := filepath.Join(r.worktreeDir(), "clock")
	_ = os.Remove(path) // of a killed command
	if durable.MkdirAll(r.worktreeDir()) != nil {
		return 0
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0
	}
	defer os.Remove(path)
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0
	}
	return uint64(st.ModTime().UnixNano())
}

// fileAge is how long ago a file was changed, by the clock of the file system.
func (r *Repo) fileAge(info os.FileInfo) time.Duration {
	return time.Duration(int64(r.fileTime()) - info.ModTime().UnixNano())
}
