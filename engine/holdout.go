package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// holdOut has tests that whoever works never sees judge a tree, when the work is complete with the judgement j
// of it, or the phase asks for it. What fails there is not done. What could not be found out stops the session:
// somebody asked for it.
func (h *Hand) holdOut(ctx context.Context, req session.JudgeRequest, j session.Judgement) (session.Judgement, error) {
	if h.Plan.Holdout == nil || !(req.Phase.Holdout && j.Verdict == session.Pass) && !completes(&h.S, h.Plan, j) {
		return j, nil
	}
	if known := h.S.Holdout; known != nil && known.Tree == j.Tree && known.Digest == h.Plan.Holdout.Digest &&
		known.Verdict == session.Pass {
		return j, nil
	}
	req.Tree, req.LapStart = j.Tree, j.Evidence
	req.Phase.Gates = h.holdingOut(h.proving(req.Phase.Gates, nil))
	r, err := h.e.Works.Holdout(ctx, req, false)
	if err != nil {
		return j, err
	}
	j.Holdout = &r
	switch r.Verdict {
	case session.Fail:
		j.Verdict, j.Class, j.Reason = session.Fail, session.ClassHoldout, r.Reason
	case session.Blocked:
		j.Verdict, j.Class, j.Reason = session.Blocked, session.ClassInfraError, r.Reason
	}
	return j, nil
}

// holdingOut are the gates that judge with hold-out tests: the one that the configuration names, or these.
func (h *Hand) holdingOut(gates []workflows.Gate) []workflows.Gate {
	if g := h.Plan.Holdout.Gate; g != nil {
		return []workflows.Gate{*g}
	}
	return gates
}

// holdOutBase runs hold-out tests on the base, where nothing is done yet, to see that they can be run at all.
func (h *Hand) holdOutBase(ctx context.Context, b *session.Baseline, ev session.Evidence, runDir string) error {
	req := session.JudgeRequest{Session: h.ID, Tree: b.Tree, Plan: *h.Plan, LapStart: ev, RunDir: runDir,
		Known: slices.Concat(b.Red, b.Flaky),
		Phase: workflows.Phase{Gates: h.holdingOut(h.Plan.Baseline)}}
	r, err := h.e.Works.Holdout(ctx, req, true)
	if err != nil {
		return err
	}
	switch {
	case r.Verdict == session.Blocked:
		return session.Refuse(session.RefuseBaseline, "fix what is missing, or start without --holdout", "%s", r.Reason)
	case r.Passed+r.Failed == 0:
		return session.Refuse(session.RefuseBaseline,
			"put the files where they are in the repository, or name a gate that runs them: holdout: {gate: NAME} in the configuration",
			"no gate runs a hold-out test: %s", r.Reason)
	}
	b.Holdout = &r
	return nil
}

// holdOutHanded runs hold-out tests on a checkpoint that is about to be handed over, if it is not known what
// they say. nil: there are none, or nobody wants to know.
func (h *Hand) holdOutHanded(ctx context.Context, c *session.Checkpoint, o Handover) (*session.HoldoutResult, error) {
	pinned := h.Plan.Holdout
	if pinned == nil {
		return nil, nil
	}
	r := h.S.Holdout
	if r == nil || r.Tree != c.Tree || r.Digest != pinned.Digest || r.Verdict == session.Blocked {
		if o.Unproven {
			return nil, nil
		}
		results, err := h.judgedAt(ctx, c)
		if err != nil {
			return nil, err
		}
		req, err := h.handedRequest(c, h.holdingOut(h.passedLast(results)))
		if err != nil {
			return nil, err
		}
		if ev, err := h.evidence(ctx, session.FileEvidence); err == nil && ev.Tree == c.Tree {
			req.LapStart = ev
		}
		now, err := h.e.Works.Holdout(ctx, req, false)
		if err != nil {
			return nil, err
		}
		r = &now
	}
	switch {
	case r.Verdict == session.Pass || o.Unproven || o.Anyway != "":
		return r, nil
	case r.Verdict == session.Blocked:
		return nil, session.Refuse(session.RefuseNotGreen, "wfs edit --holdout DIR, or wfs finish --unproven",
			"%s", r.Reason)
	}
	hint := "wfs run, or wfs finish --unproven"
	if h.S.Status == session.StatusCompleted { // they were pinned later: nothing is left to run
		hint = `wfs run --note "what is to be done", or wfs finish --unproven`
	}
	return nil, session.Refuse(session.RefuseNotGreen, hint, "%s", r.Reason)
}

// otherHoldout reports whether a plan brings hold-out tests that nobody has run on the base.
func otherHoldout(was, is *workflows.Plan) bool {
	return is.Holdout != nil && (was.Holdout == nil || was.Holdout.Digest != is.Holdout.Digest)
}

// saysHoldout is what the handed-over commit says of hold-out tests, "" when there are none.
func saysHoldout(p *workflows.Plan, r *session.HoldoutResult) string {
	switch {
	case p.Holdout == nil:
		return ""
	case r == nil:
		return "Hold-out tests: not run (--unproven)."
	}
	return "Hold-out tests: " + r.Reason + "."
}

// joinedLines puts those of some texts that say something below each other, cut to a bearable length.
func joinedLines(texts ...string) string {
	var lines []string
	for _, t := range texts {
		if t = oneLine(t, 300); t != "" {
			lines = append(lines, t)
		}
	}
	return strings.Join(lines, "\n")
}
