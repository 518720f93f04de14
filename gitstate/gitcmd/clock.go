package gitcmd

import (
	"os"
	"path/filepath"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// FileTime is now, by the clock of the file system, in nanoseconds; 0 when that cannot be told.
func (r *Git) FileTime() uint64 {
	path := filepath.Join(r.PrivateDir(), "clock")
	_ = os.Remove(path) // of a killed command
	if durable.MkdirAll(r.PrivateDir()) != nil {
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

// FileAge is how long ago a file was changed, by the clock of the file system.
func (r *Git) FileAge(info os.FileInfo) time.Duration {
	return time.Duration(int64(r.FileTime()) - info.ModTime().UnixNano())
}
