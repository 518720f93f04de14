package gitstate

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// comparesFiles says that files can be compared with what the index says of them.
const comparesFiles = true

// listDir lists a directory and keeps it open until end. It does not follow a link.
func listDir(path string) (list []fs.DirEntry, fd int, end func(), err error) {
	fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, -1, func() {}, err
	}
	f := os.NewFile(uintptr(fd), path)
	list, err = f.ReadDir(-1)
	return list, fd, func() { f.Close() }, err
}

// lookAt looks at a file, and reports false when there is none, or when its time is none that git could write down.
func lookAt(path string) (fileLook, bool) { return lookIn(unix.AT_FDCWD, path) }

// lookIn is lookAt for a file in an open directory.
func lookIn(dir int, name string) (fileLook, bool) {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Mtim.Sec < 0 || st.Mtim.Sec>>32 != 0 {
		return fileLook{}, false
	}
	return fileLook{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec), uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec),
		uint32(st.Dev), uint32(st.Ino), st.Mode, st.Uid, st.Gid, uint32(st.Size)}, true
}
