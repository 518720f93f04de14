package gitstate

import (
	"bytes"
	"syscall"
)

// tellingDevice is the device that a directory lies on, if directories there tell when they changed, else 0. Of file
// systems on the network that is not known.
func tellingDevice(dir string) uint64 {
	var fs syscall.Statfs_t
	var st syscall.Stat_t
	if syscall.Statfs(dir, &fs) != nil || syscall.Lstat(dir, &st) != nil {
		return 0
	}
	var name []byte
	for _, c := range fs.Fstypename {
		name = append(name, byte(c))
	}
	switch name, _, _ = bytes.Cut(name, []byte{0}); string(name) {
	case "apfs", "hfs":
		return uint64(uint32(st.Dev))
	}
	return 0
}

// stampOf looks at a directory. It reports false for what is none, and for one that is not on that device.
func stampOf(path string, device uint64) (dirStamp, bool) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFDIR || device == 0 || uint64(uint32(st.Dev)) != device {
		return dirStamp{}, false
	}
	return dirStamp{st.Ino, uint64(st.Ctimespec.Nano()), uint64(st.Mtimespec.Nano())}, true
}
