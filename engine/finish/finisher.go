// Package finish is what `wfs finish` hands over: whether it may, which tree, and with which message.
package finish

import (
	"context"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/engine/judging"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
)

// Git is what a handover asks of the repository, beside what its turn does.
type Git interface {
	// MergeBase returns the best common ancestor of two commits, "" when they have none.
	MergeBase(ctx context.Context, a, b session.Commit) (session.Commit, error)
	// CommitOnto makes one commit with the user's hooks, signing and identity on a new branch that starts at base,
	// in a git directory of its own: HEAD and the index of the work tree stay. On error nothing is left behind.
	CommitOnto(ctx context.Context, branch string, base session.Commit, tree session.Tree,
		message string) (session.Commit, error)
}

// Finisher hands the work of a session over.
type Finisher struct {
	*judging.Judging
	*transition.FinishTurn
	place *checkpoint.Checkpoints
	git   Git
	// Agreed says that a finish was the answer to the question whether the work is done.
	Agreed bool
}

// Of hands over a session in hand.
func Of(j *judging.Judging, t *transition.FinishTurn, place *checkpoint.Checkpoints, git Git) *Finisher {
	return &Finisher{Judging: j, FinishTurn: t, place: place, git: git}
}
