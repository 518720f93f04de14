package agent

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
)

// newest tells how many files there are below a directory, but for git's, and when the newest of them was
// changed. It is "" when ctx ends before all are seen.
func newest(ctx context.Context, root string) string {
	count, last := 0, int64(0)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return nil // gone meanwhile, or somebody else's
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
