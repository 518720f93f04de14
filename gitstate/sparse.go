package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// In a sparse checkout the index says of each file outside of the patterns that it is not there on purpose. `read-tree`
// alone does not know the patterns: with its index, all of those files would look deleted, and the user's next
// `git commit -a` would delete them.

// sparse reports whether the work tree is a sparse checkout.
func (r *Repo) sparse(ctx context.Context) (bool, error) {
	if _, err := os.Stat(filepath.Join(r.gitDir, "info", "sparse-checkout")); err != nil {
		return false, nil
	}
	out, err := r.git(ctx, gitOpts{okExit: []int{1}}, "config", "--type=bool", "--get", "core.sparseCheckout")
	return strings.TrimSpace(string(out)) == "true", err
}

// reapplySparse lets git mark, in the index that o names, what the patterns leave out.
func (r *Repo) reapplySparse(ctx context.Context, o gitOpts) error {
	if on, err := r.sparse(ctx); err != nil || !on {
		return err
	}
	_, err := r.git(ctx, gitOpts{write: true, env: o.env}, "-c", "core.splitIndex=false", "sparse-checkout", "reapply")
	return err
}
