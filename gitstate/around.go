package gitstate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// IgnoredBefore lists untracked paths that an exclude file names one by one, because they were ignored once, and that
// the repository's own rules do not ignore by now. What its guard holds out is none of them.
func (r *Repo) IgnoredBefore(ctx context.Context, exclude string) ([]string, error) {
	text, err := durable.ReadFile(exclude, maxRules)
	if err != nil {
		return nil, err
	}
	rules, g := session.SplitGuard(text)
	var there []string
	for line := range strings.Lines(string(rules)) {
		p := session.ExcludedPath(strings.TrimSuffix(line, "\n"))
		if p == "" || g.Allows(p) {
			continue
		}
		if _, err := r.lstat(strings.TrimSuffix(p, "/")); err == nil {
			there = append(there, p)
		}
	}
	if len(there) == 0 {
		return nil, nil
	}
	ignored, err := r.ignoredNow(ctx, there)
	if err != nil {
		return nil, err
	}
	x, err := r.readIndex(ctx, r.Git.IndexPath())
	return slices.DeleteFunc(there, func(p string) bool {
		return ignored[p] || err == nil && x.tracks(strings.TrimSuffix(p, "/"))
	}), err
}

// Ignores returns those of some paths that the repository's and the user's rules ignore.
func (r *Repo) Ignores(ctx context.Context, paths []string) (map[string]bool, error) {
	return r.ignoredNow(ctx, paths)
}

// Remote is the remote that the user would push to: origin, else the only one, else "".
func (r *Repo) Remote(ctx context.Context) (string, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "remote")
	if err != nil {
		return "", err
	}
	names := strings.Fields(string(out))
	switch {
	case slices.Contains(names, "origin"):
		return "origin", nil
	case len(names) == 1:
		return names[0], nil
	}
	return "", nil
}

// CheckBranchName returns an error for a name that no branch can have.
func (r *Repo) CheckBranchName(ctx context.Context, name string) error {
	if strings.HasPrefix(name, "-") || strings.Contains(name, "@{") || name == "HEAD" { // as git switch -c has it
		return fmt.Errorf("%q is not a valid branch name", name)
	}
	_, err := r.Git.Run(ctx, gitcmd.Opts{}, "check-ref-format", "refs/heads/"+name)
	return err
}

// Show returns a file of a tree, nil when the tree has none of that name.
func (r *Repo) Show(ctx context.Context, tree session.Tree, name string) ([]byte, error) {
	e := treeEntry{mode: modeTree, id: string(tree)}
	for part := range strings.SplitSeq(name, "/") {
		if !e.isTree() {
			return nil, nil
		}
		var err error
		if e, err = r.entry(ctx, session.Tree(e.id), part); err != nil {
			return nil, err
		}
	}
	if e.mode == "" || e.isTree() || e.mode == modeGitlink {
		return nil, nil
	}
	_, data, err := r.object(ctx, e.id)
	return data, err
}

// MergeBase returns the best common ancestor of two commits, "" when they have none.
func (r *Repo) MergeBase(ctx context.Context, a, b session.Commit) (session.Commit, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "merge-base", string(a), string(b))
	return session.Commit(strings.TrimSpace(string(out))), err
}

// Conflicts lists the paths in which two commits cannot be merged. tried is false with a git that cannot find
// out without a work tree (before 2.38).
func (r *Repo) Conflicts(ctx context.Context, a, b session.Commit) (paths []string, tried bool) {
	_, paths, err := r.mergeTrees(ctx, a, b)
	return paths, err == nil
}

// Tracked reports whether git tracks a path in a work tree, which is this one or "main". Capital letters do not count:
// on some systems they are the same file.
func (r *Repo) Tracked(ctx context.Context, worktree, path string) (bool, error) {
	index := r.Git.IndexPath()
	if worktree != r.Git.Worktree {
		index = filepath.Join(r.Git.CommonDir, "index")
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{Env: gitcmd.WithIndex(index)}, "ls-files", "-z", "--", ":(top,icase)"+path)
	return len(out) > 0, err
}
