package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func writeOut(path string) error {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	err = unix.SyncFileRange(int(f.Fd()), 0, 0,
		unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ESPIPE) ||
		errors.Is(err, unix.ENOTSUP) {
		return f.Sync()
	}
	return os.NewSyscallError("sync_file_range", err)
}
