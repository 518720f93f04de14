package checkout

import (
	"bytes"
	"context"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
)

// flagged returns, of the files that changes replace or delete, those that git was told not to look at and that
// are there: the move has to look at them after all. arrived are those that are already as the changes want
// them, because an earlier move was killed before it came to the index: what is in them is not the user's.
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
		if err == nil && info.IsDir() || gitcmd.Absent(err) { // left out of a sparse checkout, deleted, replaced
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

// lookAgain takes those marks from paths of a private index, and adds what is there: what is neither as the
// index had it nor as the target has it, a checkout then refuses to touch.
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
