package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// open opens a file without waiting for the other end of a FIFO, and without following a symbolic link. Go adds
// O_CLOEXEC.
func open(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_NOCTTY, 0o600)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		return nil, fmt.Errorf("%s: %w", path, ErrNotRegular) // a symbolic link, or a FIFO without a reader
	}
	return f, err
}

// SyncDir makes the names of the files in `dir` durable. On a file system that cannot sync directories, it does
// nothing.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

func checkOwner(dir string, info fs.FileInfo, others []fs.FileInfo) error {
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%w: others may write to %s (mode %04o)", ErrNotPrivate, dir, info.Mode().Perm())
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 || int64(st.Uid) == int64(os.Geteuid()) {
		return nil
	}
	for _, other := range others {
		if o, ok := other.Sys().(*syscall.Stat_t); ok && o.Uid == st.Uid {
			return nil
		}
	}
	return fmt.Errorf("%w: %s belongs to user %d", ErrNotPrivate, dir, st.Uid)
}

// FileID returns the device and inode numbers, which together identify a file on this machine; known is false if the
// system has none.
func FileID(info fs.FileInfo) (device, inode uint64, known bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint64(st.Dev), st.Ino, true
}
