package snapshot

import (
	"context"
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// Tracked reports whether git tracks a path in a work tree: `worktree` is the id of this work tree, or "main". It
// ignores case, because some file systems do.
func (r *Files) Tracked(ctx context.Context, worktree, path string) (bool, error) {
	index := r.Git.IndexPath()
	if worktree != r.Git.Worktree {
		index = filepath.Join(r.Git.CommonDir, "index")
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{Env: gitcmd.WithIndex(index)}, "ls-files", "-z", "--", ":(top,icase)"+path)
	return len(out) > 0, err
}
