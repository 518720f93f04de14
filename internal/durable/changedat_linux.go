package durable

import (
	"io/fs"
	"syscall"
)

// ChangedAt returns when a file's content or attributes last changed (its ctime), in nanoseconds since 1970, or false
// if the system does not report it. Programs cannot set this time to a value of their choice.
func ChangedAt(info fs.FileInfo) (int64, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Ctim.Nano(), true
}
