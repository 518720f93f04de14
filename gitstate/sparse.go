package gitstate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
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

// reapplySparse lets git mark, in the index that o names, what the patterns leave out. It does so in a directory with nothing
// in it: in the work tree it would delete the files that it marks, and, with a cone, whatever is ignored beside them. Git takes
// the mark from files that are there all the same.
func (r *Repo) reapplySparse(ctx context.Context, o gitOpts) error {
	if on, err := r.sparse(ctx); err != nil || !on {
		return err
	}
	nothing := filepath.Join(r.worktreeDir(), "nothing")
	if err := os.RemoveAll(nothing); err != nil { // of a killed command
		return err
	}
	if err := durable.MkdirAll(nothing); err != nil {
		return err
	}
	defer os.RemoveAll(nothing)
	in := &Repo{root: nothing, env: r.env, userEnv: r.userEnv}
	_, err := in.git(ctx, gitOpts{write: true, gitDir: r.gitDir, env: o.env}, "-c", "core.splitIndex=false", "sparse-checkout", "reapply")
	return err
}

// letIn lets the files of a tree that an index has otherwise into a sparse checkout, for one move with a private git directory:
// they are edits.
func (r *Repo) letIn(ctx context.Context, dir string, index, tree session.Tree) error {
	if on, err := r.sparse(ctx); err != nil || !on || index == "" || index == tree {
		return err
	}
	changes, err := r.diffTrees(ctx, index, tree)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, c := range changes {
		if c.newMode != modeNone {
			lines.WriteString("\n/" + patternQuoter.Replace(c.Path))
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, "info", "sparse-checkout"), os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(lines.String() + "\n")
	return errors.Join(err, f.Close())
}

// patternQuoter makes a pattern of gitignore(5) that fits one path, but for names with the end of a line, of which there is none.
var patternQuoter = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `, "\n", "?")
