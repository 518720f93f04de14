package finish

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// Options are the user's options for `wfs finish`.
type Options struct {
	Branch         string // full ref name
	Subject        string // subject line of the commit; if it is empty, the goal is used
	Keep           bool   // hand over the checkpoints themselves instead of one commit
	Unproven       bool   // finish without testing in a clean tree
	Anyway         string // the user's reason to hand over although agreed work is missing
	Report         workflows.Report
	WithoutCarried bool // leave out changes that were uncommitted when the session began
}

// Finish hands the work over as one commit on a new branch of the user, which starts from the base. The commit has the
// tree that the gates have passed, without .workflow/. Finish returns the number of its operation. It pushes nothing,
// and the session stays readable.
func (h *Finisher) Finish(ctx context.Context, o Options) (*session.Finished, int64, error) {
	if f := h.S.Finished; h.S.Status == session.StatusFinished && f.Branch == o.Branch {
		return f, 0, h.handedAlready(ctx, f)
	}
	if err := h.place.MayDrive(ctx); err != nil {
		return nil, 0, err
	}
	if err := h.NoSurvivors(); err != nil {
		return nil, 0, err
	}
	snap, err := h.Snapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	work, err := h.handing(ctx, o, snap)
	if err != nil {
		return nil, 0, err
	}
	c := work.checkpoint
	proof, err := h.proveHanded(ctx, c, o)
	if err != nil {
		return nil, 0, err
	}
	held, err := h.holdOutHanded(ctx, c, o)
	if err != nil {
		return nil, 0, err
	}
	t := &transition.Finish{Branch: o.Branch, Base: work.onto, Files: work.files, Tree: work.tree,
		Finished: session.Finished{Checkpoint: c.Number, Anyway: o.Anyway, WithoutCarried: o.WithoutCarried, Kept: o.Keep},
		Before: func() error {
			w := h.S.Waiting
			if h.Agreed = w != nil && w.Agree && len(items.Open(&h.S)) == 0; !h.Agreed {
				return nil
			}
			return h.Append(session.Agreed{By: "person"}) // a person who hands the work over thereby agrees that it is done
		},
		Commit: func() (session.Commit, error) {
			unproven := joinedLines(notProven(proof, c, o), saysHoldout(h.Plan, held))
			return h.commitOver(ctx, c, o, work, proof, unproven)
		}}
	if proof != h.S.Proof {
		t.Finished.Proof = proof
	}
	if held != h.S.Holdout {
		t.Finished.Holdout = held
	}
	n, err := h.FinishTurn.Make(ctx, t, snap)
	return &t.Finished, n, err
}

func (h *Finisher) commitOver(ctx context.Context, c *session.Checkpoint, o Options, work handing,
	proof *session.Proof, unproven string) (session.Commit, error) {
	if o.Keep {
		return c.Code, nil
	}
	gates, err := h.JudgedAt(ctx, c)
	if err != nil {
		return "", err
	}
	if proof != nil && proof.Tree == c.Tree {
		for _, g := range proof.Gates { // gates that were skipped earlier ran on the final tree in the proof
			i := slices.IndexFunc(gates, func(j session.GateResult) bool { return j.Gate == g.Gate })
			switch {
			case i < 0:
				gates = append(slices.Clip(gates), g)
			case gates[i].Verdict != session.Pass:
				gates[i] = g
			}
		}
	}
	told := handedOver{gates: gates, unproven: unproven}
	base, err := h.Git.TreeOf(ctx, h.S.Base)
	if err != nil {
		return "", err
	}
	if told.changed, err = h.Trees.Changes(ctx, base, c.Tree); err != nil {
		return "", err
	}
	lines, err := h.Trees.Lines(ctx, session.TreePair{From: base, To: c.Tree})
	if err != nil {
		return "", err
	}
	told.lines = lines[0]
	if told.left, err = h.notReached(ctx, c); err != nil {
		return "", err
	}
	keys, err := h.keysOf(ctx, c)
	if err != nil {
		return "", err
	}
	told.left = append(told.left, keys...)
	return h.git.CommitOnto(ctx, o.Branch, work.onto, work.tree, h.handoverMessage(c, o, told))
}
