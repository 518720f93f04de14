package checkout

import (
	"bytes"
	"context"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
)

// flagged returns files that exist, that the changes replace or delete, and that git is set to ignore
// (assume-unchanged, skip-worktree): the move has to compare them itself. arrived has those of them that have the new
// content already, because an earlier move was killed before it updated the index; they contain no edits of the user.
func (r *Mover) flagged(ctx context.Context, changes []object.TreeChange) (flagged []string, arrived map[string]bool,
	err error) {
	x, err := r.Objects.ReadIndex(ctx, r.Git.IndexPath())
	if err != nil {
		return nil, nil, err
	}
	marked := map[string]bool{}
	for _, p := range x.Marked() {
		marked[p] = true
	}
	arrived = map[string]bool{}
	for _, c := range changes {
		if c.OldMode == object.ModeNone || c.OldMode == object.ModeGitlink || !marked[c.Path] {
			continue
		}
		info, err := r.Git.Lstat(c.Path)
		if err == nil && info.IsDir() || gitcmd.Absent(err) { // left out of a sparse checkout, deleted, or replaced
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		flagged = append(flagged, c.Path)
		if c.NewMode != object.ModeNone {
			if arrived[c.Path], err = r.sameFile(ctx, c, bytes.Equal); err != nil {
				return nil, nil, err
			}
		}
	}
	return flagged, arrived, nil
}

// lookAgain removes the marks assume-unchanged and skip-worktree from paths of a private index, and adds the present
// files there. The checkout then refuses to overwrite a file that has neither the content of the original index nor
// that of the target.
func (r *Mover) lookAgain(ctx context.Context, gitDir string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	o := gitcmd.Opts{GitDir: gitDir, Write: true, Stdin: []byte(strings.Join(paths, "\x00") + "\x00")}
	for _, how := range []string{"--no-assume-unchanged", "--no-skip-worktree", "--remove"} {
		if _, err := r.Git.Run(ctx, o, "update-index", how, "-z", "--stdin"); err != nil {
			return err
		}
	}
	return nil
}
