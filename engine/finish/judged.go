package finish

import (
	"context"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// JudgedAt returns the gates' results for the tree of a checkpoint, from the ledger. It does not use the session's
// newest judgement, because after the user went back to an earlier checkpoint that is of another tree.
func (h *Finisher) JudgedAt(ctx context.Context, c *session.Checkpoint) ([]session.GateResult, error) {
	commits, err := h.Git.Ledgers(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	for _, l := range commits {
		events, err := h.EventsOf(ctx, l.Commit)
		if err != nil {
			return nil, err
		}
		var gates []session.GateResult
		var ungated bool
		for _, e := range events {
			switch b := e.Body.(type) {
			case session.Judged:
				gates, ungated = b.Gates, b.Ungated
			case session.Checkpointed:
				if !ungated && b.Trigger == session.TriggerAttempt && b.Verdict == session.Pass && b.Tree == c.Tree &&
					b.Number <= c.Number {
					return AsHanded(gates), nil
				}
			}
		}
	}
	if f := h.S.Fork; f != nil && f.Line[len(f.Line)-1].Tree == c.Tree && f.Gates != nil {
		return f.Gates, nil
	}
	return nil, fmt.Errorf("checkpoint %d is marked as passed, but its verdict is missing from the history", c.Number)
}

// AsHanded returns gate results as they count for the work as a whole. A gate that failed only because no new failing
// test was left to add passes there.
func AsHanded(gates []session.GateResult) []session.GateResult {
	gates = slices.Clone(gates)
	for i, g := range gates {
		if g.Class == session.ClassNothingAdded {
			gates[i].Verdict, gates[i].Class, gates[i].Expect = session.Pass, session.ClassGreen, string(workflows.ExpectPass)
		}
	}
	return gates
}
