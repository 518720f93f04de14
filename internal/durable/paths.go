package durable

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Absent reports whether an error says that a path is not there, a file in place of one of its directories included.
func Absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// Inside reports whether a path is another one or lies below it.
func Inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}
