package engine

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// prove has the gates judge a tree once more in a clean one, when the work is complete with the judgement j of it. What
// fails there is not done. What could not be found out stops nothing, and is told.
func (h *Hand) prove(ctx context.Context, req session.JudgeRequest, j session.Judgement) (session.Judgement, error) {
	if h.Plan.Unproven || !completes(&h.S, h.Plan, j) {
		return j, nil
	}
	back, elsewhere, err := h.convertAsBefore(ctx)
	if err != nil {
		return j, err
	}
	if len(back) > 0 { // by a gate: the clean tree is laid out without it
		if err := h.append(session.Strayed{Back: back}); err != nil {
			return j, err
		}
	}
	if len(elsewhere) > 0 {
		j.Verdict, j.Class, j.Reason = session.Fail, session.ClassNotClean, settingsChanged(elsewhere)
		return j, nil
	}
	req.Tree, req.Gone = j.Tree, slices.Concat(req.Gone, j.Gone)
	if req.Phase.Gates = h.proving(req.Phase.Gates, j.Gates); len(req.Phase.Gates) == 0 {
		return j, nil
	}
	p, err := h.e.Works.Prove(ctx, req)
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

// completes reports whether the work is complete if its open attempt is judged so, or when somebody agrees to that.
func completes(s *session.Session, p *workflows.Plan, j session.Judgement) bool {
	open, after := *s.Open, *s
	open.Judgement, after.Open = &j, &open
	d := conclude(&after, p)
	return d.Verdict == session.Pass && (d.Next == workflows.Done || d.NothingLeft && items.Next(s) == 0)
}

// proving are the gates that prove finished work: those of the phase that run something, with all that passed in the
// judgement of it, or else those of the plan that passed last.
func (h *Hand) proving(gates []workflows.Gate, judged []session.GateResult) []workflows.Gate {
	runs := func(g workflows.Gate) bool { return g.Runs() && !g.MayChangeTree }
	gates = slices.Clone(gates)
	if own := slices.DeleteFunc(gates, func(g workflows.Gate) bool { return !runs(g) }); len(own) > 0 {
		return unique(append(own, h.passedLast(judged)...))
	}
	return h.passedLast(h.S.LastGates)
}

// passedLast are the gates of the plan that passed, by these results, and those that could wait until now.
func (h *Hand) passedLast(results []session.GateResult) []workflows.Gate {
	return slices.DeleteFunc(slices.Clone(h.Plan.Baseline), func(g workflows.Gate) bool {
		i := slices.IndexFunc(results, func(r session.GateResult) bool { return r.Gate == g.Name })
		return g.MayChangeTree || i < 0 && !waits(g) || i >= 0 && results[i].Verdict != session.Pass
	})
}

// proveHanded proves a checkpoint that is about to be handed over, if that has not been done. nil: there is nothing to
// prove, or it is known.
func (h *Hand) proveHanded(ctx context.Context, c *session.Checkpoint, o Handover) (*session.Proof, error) {
	known := h.S.Proof
	if known != nil && known.Tree == c.Tree && (known.Verdict != session.Fail || o.Unproven || o.Anyway != "") {
		return known, nil
	}
	if h.Plan.Unproven || o.Unproven {
		return nil, nil
	}
	results, err := h.judgedAt(ctx, c)
	if err != nil {
		return nil, err
	}
	gates := h.passedLast(results)
	if len(gates) == 0 {
		return nil, nil
	}
	req, err := h.handedRequest(c, gates)
	if err != nil {
		return nil, err
	}
	if req.Baseline, err = h.evidence(ctx, session.FileBaseline); err != nil {
		return nil, err
	}
	if req.LapStart, err = h.evidenceAt(ctx, c); err != nil {
		return nil, err
	}
	p, err := h.e.Works.Prove(ctx, req)
	if err != nil {
		return nil, err
	}
	if p.Verdict == session.Fail && o.Anyway == "" {
		hint := "add them to the work and wfs run, or wfs finish --unproven"
		if len(p.Lacks) == 0 {
			hint = "fix it and wfs run, or wfs finish --unproven"
		}
		return nil, session.Refuse(session.RefuseNotGreen, hint, "%s", p.Reason)
	}
	return &p, nil
}

// handedRequest asks gates about a checkpoint that is about to be handed over.
func (h *Hand) handedRequest(c *session.Checkpoint, gates []workflows.Gate) (req session.JudgeRequest, err error) {
	req = session.JudgeRequest{Session: h.ID, Tree: c.Tree, Plan: *h.Plan, Known: h.known(),
		Phase: workflows.Phase{Name: c.Phase, Gates: gates}}
	req.RunDir, err = h.j.RunDir(h.e.NewRunID(h.ID, h.S.Runs+1))
	return req, err
}

// evidenceAt is what every test said about the tree of a checkpoint: the same must come out in a clean tree. What the
// session's laps took away since the base is not asked for again. Without such evidence it is that of the base.
func (h *Hand) evidenceAt(ctx context.Context, c *session.Checkpoint) (session.Evidence, error) {
	ev, err := h.evidence(ctx, session.FileEvidence)
	if err != nil || ev.Tree == c.Tree {
		return ev, err
	}
	commits, err := h.e.Store.Ledgers(ctx, h.ID)
	if err != nil {
		return ev, err
	}
	for _, l := range commits {
		if ev, err = h.e.Evidence(ctx, l.Commit, session.FileEvidence); err != nil || ev.Tree == c.Tree {
			return ev, err
		}
	}
	return h.evidence(ctx, session.FileBaseline)
}

// notProven is what the handed-over commit says of work that is not proven in a clean tree, "" when there is
// nothing to say.
func notProven(p *session.Proof, c *session.Checkpoint, o Handover) string {
	if why := p.Unproven(c.Tree); why != "" {
		return "Not tested in a clean checkout: " + why
	}
	if o.Unproven && p == nil {
		return "Not tested in a clean checkout (--unproven)."
	}
	return ""
}
