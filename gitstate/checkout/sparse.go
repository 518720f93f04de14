package checkout

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// In a sparse checkout, the index marks each file outside of the patterns as absent on purpose (skip-worktree).
// `read-tree` ignores the patterns: in its index, all of these files would look deleted, and the user's next `git
// commit -a` would delete them.

// ReapplySparse makes git mark the files outside of the patterns as absent, in the index that o names. It runs git in
// an empty directory: in the work tree, git would delete the files that it marks and, with a cone, the ignored files
// next to them. Git removes the mark from a file that still exists.
//
// Git also removes all marks inside of the patterns, even those that the user has set, for example for local settings
// or for a file that is deleted here. The next checkpoint would then save those settings, or delete that file. So
// ReapplySparse sets these marks again, before the index is used.
func ReapplySparse(ctx context.Context, git *gitcmd.Git, o gitcmd.Opts) error {
	if on, err := git.Sparse(ctx); err != nil || !on {
		return err
	}
	nothing := filepath.Join(git.PrivateDir(), "nothing")
	if err := os.RemoveAll(nothing); err != nil { // left by a killed command
		return err
	}
	if err := durable.MkdirAll(nothing); err != nil {
		return err
	}
	defer os.RemoveAll(nothing)
	marked, err := skipped(ctx, git, o)
	if err != nil {
		return err
	}
	in, o := gitcmd.New(gitcmd.Place{Root: nothing, Env: git.Env, UserEnv: git.UserEnv}), gitcmd.Opts{Write: true,
		GitDir: git.GitDir, Env: o.Env}
	if _, err := in.Run(ctx, o, "sparse-checkout", "reapply"); err != nil ||
		len(marked) == 0 {
		return err
	}
	left, err := skipped(ctx, in, o)
	if err != nil {
		return err
	}
	maps.DeleteFunc(marked, func(p string, _ bool) bool { return left[p] })
	if len(marked) == 0 {
		return nil
	}
	o.Stdin = []byte(strings.Join(slices.Collect(maps.Keys(marked)), "\x00") + "\x00")
	_, err = in.Run(ctx, o, "update-index", "--skip-worktree", "-z", "--stdin")
	return err
}

// skipped returns the files that have the mark skip-worktree in the index that o names. Unless
// sparse.expectFilesOutsideOfPatterns is set, git ignores the mark of a file that exists.
func skipped(ctx context.Context, git *gitcmd.Git, o gitcmd.Opts) (map[string]bool, error) {
	out, err := git.Run(ctx, gitcmd.Opts{GitDir: o.GitDir, Env: o.Env}, "ls-files", "-v", "-z")
	list := map[string]bool{}
	for _, line := range gitcmd.SplitZ(out) { // lower case: assume-unchanged as well
		if tag, p, ok := strings.Cut(line, " "); ok && strings.EqualFold(tag, "S") {
			list[p] = true
		}
	}
	return list, err
}

// letIn extends the patterns of a sparse checkout, in the private git directory of a move, by the files of a tree that
// differ from an index: these files are edits, and the checkout must write them.
func (r *Mover) letIn(ctx context.Context, dir string, index, tree session.Tree) error {
	if on, err := r.Git.Sparse(ctx); err != nil || !on || index == "" || index == tree {
		return err
	}
	changes, err := r.Objects.DiffTrees(ctx, index, tree)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, c := range changes {
		if c.NewMode != object.ModeNone {
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

// patternQuoter escapes a path, so that it becomes a pattern of gitignore(5) for that path only. A line feed has no
// escape; it becomes "?".
var patternQuoter = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `, "\n", "?")
