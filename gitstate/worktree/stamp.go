package worktree

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
)

// TreeStamp returns a fingerprint of the names, modes, sizes and times of all files in a directory: if it changes, the
// files have changed. It stays the same if the directory is renamed. The .git at the top and unreadable directories are
// ignored.
func TreeStamp(top string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil && (d == nil || !errors.Is(err, fs.ErrPermission)) {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if rel == ".git" && d.IsDir() {
			return fs.SkipDir
		}
		if err != nil || rel == ".git" || d.IsDir() {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		changed, _ := durable.ChangedAt(info)
		fmt.Fprintf(sum, "%q %s %d %d %d\n", filepath.ToSlash(rel), info.Mode(), info.Size(), info.ModTime().UnixNano(),
			changed)
		return nil
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
