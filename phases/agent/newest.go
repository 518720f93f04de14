package agent

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
)

// newest returns a text with the number of files below a directory and the time of the newest change, to compare with
// an earlier one. It leaves out `.git`. It returns "" if ctx ends first.
func newest(ctx context.Context, root string) string {
	count, last := 0, int64(0)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return nil // deleted in the meantime, or not readable
		}
		if d.Name() == ".git" && path != root {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil {
			count++
			last = max(last, info.ModTime().UnixNano())
		}
		return nil
	})
	if err != nil {
		return ""
	}
	return fmt.Sprint(count, " ", last)
}
