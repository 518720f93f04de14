package gitstate

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// writable reports whether names can be made and removed in a directory.
func writable(dir string) bool {
	return !errors.Is(unix.Access(dir, unix.W_OK|unix.X_OK), syscall.EACCES)
}
