package durable

import (
	"io/fs"
	"syscall"
)

// ChangedAt returns when a file's content or attributes last changed, in nanoseconds. No program can set this time.
func ChangedAt(info fs.FileInfo) (int64, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Ctim.Nano(), true
}
