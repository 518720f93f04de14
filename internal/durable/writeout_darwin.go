package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// On macOS fsync hands the content to the disk, and a later os.File.Sync makes the disk keep it.
func writeOut(path string) error {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	return os.NewSyscallError("fsync", unix.Fsync(int(f.Fd())))
}
