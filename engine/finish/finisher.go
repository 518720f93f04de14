// Package finish implements `wfs finish`: whether the work may be handed over, which tree, and with which message.
package finish

import (
	"context"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/engine/judging"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
)

// Git is the part of the repository that a handover needs, in addition to that of transition.FinishTurn.
type Git interface {
	// MergeBase returns the best common ancestor of two commits, "" when they have none.
	MergeBase(ctx context.Context, a, b session.Commit) (session.Commit, error)
	// CommitOnto makes one commit on a new branch from base, with the user's hooks, signing and identity. It runs in a git
	// directory of its own, so HEAD and the index of the work tree do not change. On error it leaves nothing behind.
	CommitOnto(ctx context.Context, branch string, base session.Commit, tree session.Tree,
		message string) (session.Commit, error)
}

// Finisher hands the work of a session over.
type Finisher struct {
	*judging.Judging
	*transition.FinishTurn
	place *checkpoint.Checkpoints
	git   Git
	// Agreed is true if a finish has also answered the question whether the work is done.
	Agreed bool
}

// Of returns the finisher of a session that is open for writing.
func Of(j *judging.Judging, t *transition.FinishTurn, place *checkpoint.Checkpoints, git Git) *Finisher {
	return &Finisher{Judging: j, FinishTurn: t, place: place, git: git}
}
