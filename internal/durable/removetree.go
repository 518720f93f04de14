package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveTree removes a directory and everything in it. It also removes directories that are read-only, as in the Go
// module cache.
func RemoveTree(path string) error {
	err := os.RemoveAll(path)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
