package gitstate

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
)

// Unfilled lists files that hold what git does not have, in the directory of a work tree that was never completed: git
// can say nothing of it, and somebody may have taken it for a whole one. Anything but that makes no list. Empty files and
// links do not count.
func (r *Repo) Unfilled(ctx context.Context, n NewWorktree) ([]string, error) {
	t, err := r.linkedAt(ctx, n.Path)
	if err != nil || !(t != nil && !t.Gone || t == nil && r.unborn(n)) {
		return nil, err
	}
	var files, odd []string
	err = filepath.WalkDir(n.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(n.Path, path)
		if err != nil || rel == ".git" {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case info.Size() == 0:
		case strings.ContainsAny(rel, "\n\""): // git reads a path a line
			odd = append(odd, rel)
		default:
			files = append(files, rel)
		}
		return nil
	})
	if err != nil || len(files) == 0 {
		return odd, err
	}
	in := &Repo{root: n.Path, env: r.env, userEnv: r.userEnv}
	ids, err := in.git(ctx, gitOpts{gitDir: r.commonDir, stdin: []byte(strings.Join(files, "\n") + "\n")}, "hash-object", "--stdin-paths")
	if err != nil {
		return nil, err
	}
	has, err := in.git(ctx, gitOpts{gitDir: r.commonDir, stdin: ids}, "cat-file", "--batch-check=%(objecttype)")
	for i, line := range strings.Split(strings.TrimSpace(string(has)), "\n") {
		if line != "blob" && i < len(files) {
			odd = append(odd, files[i])
		}
	}
	return odd, err
}
