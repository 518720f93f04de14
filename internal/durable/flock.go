package durable

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func lockFile(f *os.File, exclusive bool) error {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	for {
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err {
		case nil:
			return nil
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return ErrLocked
		case unix.ENOSYS, unix.ENOLCK, unix.ENOTSUP, unix.EINVAL:
			return fmt.Errorf("%s: %w: %v", f.Name(), ErrNoLocks, err)
		default:
			return &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
