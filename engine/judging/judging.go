// Package judging runs the gates on the base, on attempts, and on completed work.
package judging

import (
	"context"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Gates judge trees.
type Gates interface {
	// Judge runs guards and gates. An error means that no verdict was possible; bad code is a verdict.
	Judge(ctx context.Context, r session.JudgeRequest) (session.Judgement, error)
	// Prove runs the gates of passing work again, in a clean tree. It returns an error only if ctx ends; all other
	// problems are in the proof.
	Prove(ctx context.Context, r session.JudgeRequest) (session.Proof, error)
	// Holdout runs a request's gates in a clean tree with the plan's hold-out tests added. It returns an error only if ctx
	// ends; all other problems are in the result. `base` is true for the run before any work, which also tells the user
	// which hold-out tests fail for other reasons than the missing work.
	Holdout(ctx context.Context, r session.JudgeRequest, base bool) (session.HoldoutResult, error)
	// Baseline runs gates on the base. An error means that a gate cannot run at all; it contains the output.
	Baseline(ctx context.Context, p workflows.Plan, tree session.Tree, runDir string) (session.Baseline,
		session.Evidence, error)
}

// Trees compares trees.
type Trees interface {
	// Changes lists the differences between two trees, without renames.
	Changes(ctx context.Context, from, to session.Tree) ([]session.Change, error)
	// Lines counts the lines that differ between two trees, by file, for each pair.
	Lines(ctx context.Context, pairs ...session.TreePair) ([][]session.FileLines, error)
	// Keys lists the files of the tree `to` with a key that none of the changed files has in the tree `from`.
	Keys(ctx context.Context, from, to session.Tree) ([]session.Skip, error)
}

// Tools are shared by all judging.
type Tools struct {
	Gates Gates
	Trees Trees
	// HoldsTests reports whether a path contains tests, or data that tests read.
	HoldsTests func(path string) bool
}

// Judging runs the gates for a session that is open for writing.
type Judging struct {
	*hand.Hand
	*Tools
	// Convert restores the git settings from when this command began to drive. `back` names the settings that it restored;
	// `elsewhere` names changed settings in the user's own files, which it never restores.
	Convert func(context.Context) (back, elsewhere []string, err error)
}
