package snapshot

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// Edited lists the files of the work tree that differ from a commit, except those in .wfs. It writes nothing and takes
// no snapshot. exclude is the path of the session's exclude file (its list of paths that checkpoints leave out), "" for
// none.
func (r *Files) Edited(ctx context.Context, since session.Commit, exclude string) (tracked, untracked []string,
	err error) {
	paths := []string{"--", ":/", ":(top,exclude)" + object.UserDir}
	head, err := r.Refs.Head(ctx)
	if err != nil {
		return nil, nil, err
	}
	if head.Commit != since { // the user may have committed since
		moved, err := r.Git.Ask(ctx,
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
	// Use git status: git diff would write the index if only a file's time has changed.
	status := []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all"}
	changed, err := r.Git.Ask(ctx, append(status, paths...)...)
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
	names, err := r.Git.Ask(ctx, append(others, paths...)...)
	if err != nil {
		return nil, nil, err
	}
	untracked = slices.DeleteFunc(gitcmd.SplitZ(names), func(p string) bool {
		_, is := slices.BinarySearch(tracked, p)
		return is
	})
	return tracked, untracked, nil
}

// Dirty returns the number of paths in the work tree that differ from HEAD or are untracked, except .wfs. An untracked
// directory counts as one path. Dirty takes no lock.
func (r *Files) Dirty(ctx context.Context) (int, error) {
	out, err := r.Git.Ask(ctx, "status", object.EverySubmodule, "--porcelain", "--no-renames", "-z", "--", ":/",
		":(top,exclude)"+object.UserDir)
	return strings.Count(string(out), "\x00"), err
}

// Fold replaces the untracked files in directories that tools fill, such as .venv, by these directories, each with a
// slash at its end. Snapshots leave such a directory out, unless git tracks something in it.
func (r *Files) Fold(ctx context.Context, untracked []string) (folded []string, err error) {
	tracks := map[string]bool{}
	for _, file := range untracked {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if !filled(path.Base(dir)) {
				continue
			}
			if _, asked := tracks[dir]; !asked {
				out, err := r.Git.Ask(ctx, "ls-files", "-z", "--", ":(top,literal)"+dir)
				if err != nil {
					return nil, err
				}
				tracks[dir] = len(out) > 0
			}
			if !tracks[dir] {
				file = dir + "/"
			}
		}
		folded = append(folded, file)
	}
	slices.Sort(folded)
	return slices.Compact(folded), nil
}
