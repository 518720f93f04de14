// Package judging asks the gates: about the base, about an attempt, and about work that is complete.
package judging

import (
	"context"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Gates judge trees.
type Gates interface {
	// Judge runs guards and gates. An error means that it could not find out; bad code is a verdict.
	Judge(ctx context.Context, r session.JudgeRequest) (session.Judgement, error)
	// Prove runs the gates of work that passed in a clean tree. An error means that ctx ended it.
	Prove(ctx context.Context, r session.JudgeRequest) (session.Proof, error)
	// Holdout runs gates of a request with the plan's hold-out tests put over the request's tree, in a clean one. Only ctx
	// makes an error. On the base it tells the person what fails for a reason of its own.
	Holdout(ctx context.Context, r session.JudgeRequest, base bool) (session.HoldoutResult, error)
	// Baseline runs gates on the base. An error means that a gate cannot run at all; it holds what was printed.
	Baseline(ctx context.Context, p workflows.Plan, tree session.Tree, runDir string) (session.Baseline,
		session.Evidence, error)
}

// Trees compares trees.
type Trees interface {
	// Changes lists the differences between two trees, without renames.
	Changes(ctx context.Context, from, to session.Tree) ([]session.Change, error)
	// Lines counts the lines that differ between two trees, by file.
	Lines(ctx context.Context, from, to session.Tree) ([]session.FileLines, error)
	// Keys names the files of a tree with a key that no changed file has in the other one.
	Keys(ctx context.Context, from, to session.Tree) ([]session.Skip, error)
}

// Tools are what all judging shares.
type Tools struct {
	Gates Gates
	Trees Trees
	// HoldsTests reports whether a path holds tests, or what tests read.
	HoldsTests func(path string) bool
}

// Judging asks the gates about a session in hand.
type Judging struct {
	*hand.Hand
	*Tools
	// Convert makes git treat files as it did when this command began to drive, and names what that put back, and what
	// stands in files of the user's, where nothing is put back.
	Convert func(context.Context) (back, elsewhere []string, err error)
}
