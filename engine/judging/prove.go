package judging

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// prove runs the gates again in a clean tree if the judgement j completes the work. If the gates fail there, the
// judgement fails. If they cannot run there, the work still passes, and the proof in the judgement says so.
func (h *Judging) prove(ctx context.Context, req session.JudgeRequest, j session.Judgement) (session.Judgement, error) {
	if h.Plan.Unproven || !decide.Completes(&h.S, h.Plan, j) {
		return j, nil
	}
	back, elsewhere, err := h.Convert(ctx)
	if err != nil {
		return j, err
	}
	if len(back) > 0 { // a gate changed settings, which are restored now, before the clean tree is made
		if err := h.Append(session.Strayed{Back: back}); err != nil {
			return j, err
		}
	}
	if len(elsewhere) > 0 {
		j.Verdict, j.Class, j.Reason = session.Fail, session.ClassNotClean, SettingsChanged(elsewhere)
		return j, nil
	}
	req.Tree, req.Gone = j.Tree, slices.Concat(req.Gone, j.Gone)
	if req.Phase.Gates = h.proving(req.Phase.Gates, j.Gates); len(req.Phase.Gates) == 0 {
		return j, nil
	}
	p, err := h.Gates.Prove(ctx, req)
	if err != nil {
		return j, err
	}
	j.Proof = &p
	switch {
	case p.Class == session.ClassAsked:
		j.Verdict, j.Class, j.Reason = session.Blocked, session.ClassAsked, p.Reason
		j.Question = &session.Question{Evidence: []string{p.Reason}, Packages: true}
	case p.Verdict == session.Fail:
		j.Verdict, j.Class, j.Reason = p.Verdict, p.Class, p.Reason
	}
	return j, nil
}

// SettingsChanged returns the reason why a result cannot be trusted: these git settings changed, and wfs cannot restore
// them.
func SettingsChanged(names []string) string {
	return safetext.OneLine("git's settings outside the repository changed during the run, so the result could not be trusted: "+strings.Join(names, ", "), 300)
}

// proving returns the gates for the proof of finished work, which runs them again in a clean tree: the phase's gates
// that run a command, and all gates of the plan that passed according to `judged`, the results of this judgement. If
// the phase has no gate that runs a command, proving returns the plan's gates that passed in the last judgement.
func (h *Judging) proving(gates []workflows.Gate, judged []session.GateResult) []workflows.Gate {
	runs := func(g workflows.Gate) bool { return g.Runs() && !g.MayChangeTree }
	gates = slices.Clone(gates)
	if own := slices.DeleteFunc(gates, func(g workflows.Gate) bool { return !runs(g) }); len(own) > 0 {
		return unique(append(own, h.PassedLast(judged)...))
	}
	return h.PassedLast(h.S.LastGates)
}

// PassedLast returns the gates of the plan that passed in these results, and gates that may be skipped (see
// decide.Waits) and have no result. It leaves out gates that may change the tree.
func (h *Judging) PassedLast(results []session.GateResult) []workflows.Gate {
	return slices.DeleteFunc(slices.Clone(h.Plan.Baseline), func(g workflows.Gate) bool {
		i := slices.IndexFunc(results, func(r session.GateResult) bool { return r.Gate == g.Name })
		return g.MayChangeTree || i < 0 && !decide.Waits(g) || i >= 0 && results[i].Verdict != session.Pass
	})
}
