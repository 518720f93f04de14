package gitstate

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// Edited lists the files of the work tree that differ from a commit, without writing anything: a look, no snapshot. The
// user's own directory is not looked at. exclude is the session's extra exclude file, "" for none.
func (r *Repo) Edited(ctx context.Context, since session.Commit, exclude string) (tracked, untracked []string, err error) {
	paths := []string{"--", ":/", ":(top,exclude)" + userDir}
	diff := []string{"diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all", string(since)}
	changed, err := r.git(ctx, gitOpts{}, append(diff, paths...)...)
	if err != nil {
		return nil, nil, err
	}
	others := []string{"ls-files", "-z", "--others", "--exclude-standard"}
	if exclude != "" {
		others = append(others, "--exclude-from="+exclude)
	}
	made, err := r.git(ctx, gitOpts{}, append(others, paths...)...)
	if err != nil {
		return nil, nil, err
	}
	tracked = splitZ(changed)
	untracked = slices.DeleteFunc(splitZ(made), func(p string) bool { return slices.Contains(tracked, p) })
	return tracked, untracked, nil
}
