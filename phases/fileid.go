package phases

import (
	"io/fs"
	"syscall"
)

// fileID tells a file that was replaced from one that was left alone.
type fileID struct{ inode uint64 }

func idOf(info fs.FileInfo) fileID {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fileID{inode: uint64(st.Ino)}
	}
	return fileID{}
}
