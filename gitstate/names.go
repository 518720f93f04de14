package gitstate

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
)

const wayName = "git does not allow that name"

// blockNames blocks what git would refuse to write because of its name, such as `.git` in any disguise. Only git knows all
// of them; it is asked about those that are not plainly harmless.
func (r *Repo) blockNames(ctx context.Context, w *way, changes []treeChange) error {
	index := filepath.Join(r.worktreeDir(), "names")
	for _, c := range changes {
		if c.newMode == modeNone || harmless(c.Path) {
			continue
		}
		if err := removeLeftovers(index); err != nil {
			return err
		}
		_, err := r.git(ctx, gitOpts{env: withIndex(index)}, "-c", "core.splitIndex=false", "update-index", "--add", "--cacheinfo",
			c.newMode+","+c.newID+","+c.Path)
		var refused *GitError
		if errors.As(err, &refused) {
			w.block(c.Path, wayName)
		} else if err != nil {
			return err
		}
	}
	return removeLeftovers(index)
}

// harmless reports whether no part of a path can be taken for .git, or for a way out.
func harmless(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		lower := strings.ToLower(part)
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\:") || strings.HasPrefix(lower, "git~") {
			return false
		}
		for _, c := range part {
			if c >= 0x200c && c <= 0x206f || c == 0xfeff { // passed over by HFS+
				return false
			}
		}
		if strings.HasPrefix(lower, ".git") && lower != ".gitignore" && lower != ".gitattributes" && lower != ".github" {
			return false
		}
	}
	return true
}
