package gitstate

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// Edited lists the files of the work tree that differ from a commit, without writing anything: a look, no snapshot. The
// user's own directory is not looked at. exclude is the session's extra exclude file, "" for none.
func (r *Repo) Edited(ctx context.Context, since session.Commit, exclude string) (tracked, untracked []string,
	err error) {
	paths := []string{"--", ":/", ":(top,exclude)" + userDir}
	head, err := r.Head(ctx)
	if err != nil {
		return nil, nil, err
	}
	if head.Commit != since { // committed by hand, say
		moved, err := r.Git.Run(ctx, gitcmd.Opts{},
			append([]string{"diff-tree", "-r", "--name-only", "-z", "--no-renames", string(since), string(head.Commit)},
				paths...)...)
		if err != nil {
			return nil, nil, err
		}
		tracked = gitcmd.SplitZ(moved)
	}
	others := []string{"ls-files", "-z", "--others", "--exclude-standard"}
	if exclude != "" {
		others = append(others, "--exclude-from="+exclude)
	}
	// Not git diff: it writes the index when a file only looks changed.
	status := []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all"}
	changed, err := r.Git.Run(ctx, gitcmd.Opts{}, append(status, paths...)...)
	if err != nil {
		return nil, nil, err
	}
	for _, line := range gitcmd.SplitZ(changed) { // XY PATH
		if len(line) > 3 {
			tracked = append(tracked, line[3:])
		}
	}
	slices.Sort(tracked)
	tracked = slices.Compact(tracked)
	names, err := r.Git.Run(ctx, gitcmd.Opts{}, append(others, paths...)...)
	if err != nil {
		return nil, nil, err
	}
	untracked = slices.DeleteFunc(gitcmd.SplitZ(names), func(p string) bool {
		_, is := slices.BinarySearch(tracked, p)
		return is
	})
	return tracked, untracked, nil
}
