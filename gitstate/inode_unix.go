//go:build unix

package gitstate

import (
	"io/fs"
	"syscall"
)

// inodeOf tells a file that was replaced from one that was left alone.
func inodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
