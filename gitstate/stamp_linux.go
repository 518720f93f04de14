package gitstate

import "syscall"

// The file systems, as statfs(2) numbers them, of which it is known that they change a directory's times with its
// entries, whoever makes the change. Of those on the network it is not.
var telling = map[int64]bool{
	0xef53:     true, // ext2, ext3, ext4
	0x58465342: true, // xfs
	0x9123683e: true, // btrfs
	0xf2f52010: true, // f2fs
	0x2fc12fc1: true, // zfs
	0x01021994: true, // tmpfs
	0x794c7630: true, // overlayfs
}

// tellingDevice is the device that a directory lies on, if directories there tell when they changed, else 0.
func tellingDevice(dir string) uint64 {
	var fs syscall.Statfs_t
	var st syscall.Stat_t
	if syscall.Statfs(dir, &fs) != nil || syscall.Lstat(dir, &st) != nil || !telling[int64(fs.Type)&0xffffffff] {
		return 0
	}
	return uint64(st.Dev)
}

// stampOf looks at a directory. It reports false for what is none, and for one that is not on that device.
func stampOf(path string, device uint64) (dirStamp, bool) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFDIR || device == 0 || uint64(st.Dev) != device {
		return dirStamp{}, false
	}
	return dirStamp{st.Ino, uint64(st.Ctim.Nano()), uint64(st.Mtim.Nano())}, true
}
