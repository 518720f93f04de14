package durable

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Absent reports whether an error means that a path does not exist, or that a parent in the path is not a directory.
func Absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// Inside reports whether `path` is `dir` or is below it.
func Inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}
