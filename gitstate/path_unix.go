//go:build unix

package gitstate

import (
	"errors"
	"syscall"
)

// notDirectory reports whether a path leads through something that is no directory.
func notDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
