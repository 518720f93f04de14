package gitstate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// HeldOut lists untracked files that the rules of an exclude file name, and that the repository's own rules do not.
func (r *Repo) HeldOut(ctx context.Context, exclude string) ([]string, error) {
	out, err := r.git(ctx, gitOpts{}, "ls-files", "-o", "--exclude-standard", "-z")
	if err != nil || len(out) == 0 {
		return nil, err
	}
	held, err := r.git(ctx, gitOpts{stdin: out, okExit: []int{1}}, "-c", "core.excludesFile="+exclude, "check-ignore", "-z", "--stdin")
	return splitZ(held), err
}

// Remote is the remote that the user would push to: origin, else the only one, else "".
func (r *Repo) Remote(ctx context.Context) (string, error) {
	out, err := r.git(ctx, gitOpts{}, "remote")
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
	if strings.HasPrefix(name, "-") || strings.Contains(name, "@{") {
		return fmt.Errorf("%q is no name for a branch", name)
	}
	_, err := r.git(ctx, gitOpts{}, "check-ref-format", "refs/heads/"+name)
	return err
}

// Show returns a file of a tree, nil when the tree has none of that name.
func (r *Repo) Show(ctx context.Context, tree session.Tree, name string) ([]byte, error) {
	id := string(tree)
	for part := range strings.SplitSeq(name, "/") {
		e, err := r.entry(ctx, session.Tree(id), part)
		if err != nil || e.mode == "" {
			return nil, err
		}
		id = e.id
	}
	kind, data, err := r.object(ctx, id)
	if err != nil || kind != "blob" {
		return nil, err
	}
	return data, nil
}

// MergeBase returns the best common ancestor of two commits, "" when they have none.
func (r *Repo) MergeBase(ctx context.Context, a, b session.Commit) (session.Commit, error) {
	out, err := r.git(ctx, gitOpts{okExit: []int{1}}, "merge-base", string(a), string(b))
	return session.Commit(strings.TrimSpace(string(out))), err
}
