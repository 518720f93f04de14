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

// In a sparse checkout the index says of each file outside of the patterns that it is not there on purpose. `read-tree`
// alone does not know the patterns: with its index, all of those files would look deleted, and the user's next
// `git commit -a` would delete them.

// ReapplySparse lets git mark, in the index that o names, what the patterns leave out. It does so in a
// directory with nothing in it: in the work tree it would delete the files that it marks, and, with a cone,
// whatever is ignored beside them. Git takes the mark from files that are there all the same.
//
// Inside of the patterns git takes every mark away, also one that somebody has made for settings of his own, or
// for a file that he deleted here: the next checkpoint would hold the one, and lack the other. Those are set
// again, before the index is anybody's.
func ReapplySparse(ctx context.Context, git *gitcmd.Git, o gitcmd.Opts) error {
	if on, err := git.Sparse(ctx); err != nil || !on {
		return err
	}
	nothing := filepath.Join(git.PrivateDir(), "nothing")
	if err := os.RemoveAll(nothing); err != nil { // of a killed command
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

// skipped are the files that git does not look at because the index that o names marks them so (skip-worktree). Without
// sparse.expectFilesOutsideOfPatterns a mark counts only where there is no file.
func skipped(ctx context.Context, git *gitcmd.Git, o gitcmd.Opts) (map[string]bool, error) {
	out, err := git.Run(ctx, gitcmd.Opts{GitDir: o.GitDir, Env: o.Env}, "ls-files", "-v", "-z")
	list := map[string]bool{}
	for _, line := range gitcmd.SplitZ(out) { // a small letter is assume-unchanged as well
		if tag, p, ok := strings.Cut(line, " "); ok && strings.EqualFold(tag, "S") {
			list[p] = true
		}
	}
	return list, err
}

// letIn lets the files of a tree that an index has otherwise into a sparse checkout, for one move with a
// private git directory: they are edits.
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

// patternQuoter makes a pattern of gitignore(5) that fits one path, but for names with the end of a line, of
// which there is none.
var patternQuoter = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `, "\n", "?")
