package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeOut hands a file's content to the disk. On macOS fsync does only that; a later os.File.Sync of any file makes
// the disk store the content.
func writeOut(path string) error {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	return os.NewSyscallError("fsync", unix.Fsync(int(f.Fd())))
}
