package snapshot

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// listDir lists a directory. It keeps the directory open as fd until the caller calls end. It does not follow symbolic
// links.
func listDir(path string) (list []fs.DirEntry, fd int, end func(), err error) {
	fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, -1, func() {}, err
	}
	f := os.NewFile(uintptr(fd), path)
	list, err = f.ReadDir(-1)
	return list, fd, func() { f.Close() }, err
}
