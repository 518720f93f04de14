package gitstate

import "syscall"

// stampOf looks at a directory. It reports false for what is none.
func stampOf(path string) (dirStamp, bool) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return dirStamp{}, false
	}
	return dirStamp{st.Ino, uint64(st.Ctimespec.Nano()), uint64(st.Mtimespec.Nano())}, true
}
