package finish

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// holdOutHanded runs the hold-out tests (tests of the user that the agent never sees) on a checkpoint before its
// handover, unless their result is known. It returns nil if there are none, or if the user skips them. It refuses if
// they fail or cannot run, unless the user hands over anyway.
func (h *Finisher) holdOutHanded(ctx context.Context, c *session.Checkpoint, o Options) (*session.HoldoutResult,
	error) {
	pinned := h.Plan.Holdout
	if pinned == nil {
		return nil, nil
	}
	r := h.S.Holdout
	if r == nil || r.Tree != c.Tree || r.Digest != pinned.Digest || r.Verdict == session.Blocked {
		if o.Unproven {
			return nil, nil
		}
		results, err := h.JudgedAt(ctx, c)
		if err != nil {
			return nil, err
		}
		req, err := h.handedRequest(c, h.HoldingOut(h.PassedLast(results)))
		if err != nil {
			return nil, err
		}
		if ev, err := h.Evidence(ctx, session.FileEvidence); err == nil && ev.Tree == c.Tree {
			req.LapStart = ev
		}
		now, err := h.Gates.Holdout(ctx, req, false)
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
	// the hold-out tests were added after completion, so a plain run would do nothing
	if h.S.Status == session.StatusCompleted {
		hint = `wfs run --note "what is to be done", or wfs finish --unproven`
	}
	return nil, session.Refuse(session.RefuseNotGreen, hint, "%s", r.Reason)
}

// saysHoldout returns the line about hold-out tests in the handover commit, "" when there are none.
func saysHoldout(p *workflows.Plan, r *session.HoldoutResult) string {
	switch {
	case p.Holdout == nil:
		return ""
	case r == nil:
		return "Hold-out tests: not run (--unproven)."
	}
	return "Hold-out tests: " + r.Reason + "."
}

// joinedLines joins the texts that are not empty, each cut to one line of at most 300 characters.
func joinedLines(texts ...string) string {
	var lines []string
	for _, t := range texts {
		if t = safetext.OneLine(t, 300); t != "" {
			lines = append(lines, t)
		}
	}
	return strings.Join(lines, "\n")
}

// proveHanded runs the gates on a checkpoint in a clean tree before its handover, unless their result is known. It
// returns nil if there is nothing to run, or if the user or the plan skips that. It refuses if a gate fails, unless the
// user hands over anyway.
func (h *Finisher) proveHanded(ctx context.Context, c *session.Checkpoint, o Options) (*session.Proof, error) {
	known := h.S.Proof
	if known != nil && known.Tree == c.Tree && (known.Verdict != session.Fail || o.Unproven || o.Anyway != "") {
		return known, nil
	}
	if h.Plan.Unproven || o.Unproven {
		return nil, nil
	}
	results, err := h.JudgedAt(ctx, c)
	if err != nil {
		return nil, err
	}
	gates := h.PassedLast(results)
	if len(gates) == 0 {
		return nil, nil
	}
	req, err := h.handedRequest(c, gates)
	if err != nil {
		return nil, err
	}
	if req.Baseline, err = h.Evidence(ctx, session.FileBaseline); err != nil {
		return nil, err
	}
	if req.LapStart, err = h.evidenceAt(ctx, c); err != nil {
		return nil, err
	}
	p, err := h.Gates.Prove(ctx, req)
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

// handedRequest returns the request to judge a checkpoint before its handover.
func (h *Finisher) handedRequest(c *session.Checkpoint, gates []workflows.Gate) (req session.JudgeRequest, err error) {
	req = session.JudgeRequest{Session: h.ID, Tree: c.Tree, Plan: *h.Plan, Known: h.Known(),
		Phase: workflows.Phase{Name: c.Phase, Gates: gates}}
	req.RunDir, err = h.Files.RunDir(h.NewRunID(h.ID, h.S.Runs+1))
	return req, err
}

// evidenceAt returns the results of all tests on a checkpoint's tree, which a clean tree must reproduce. Unlike the
// results on the base, these do not require tests that the session has removed since. If the ledger has no results for
// this tree, evidenceAt returns those on the base.
func (h *Finisher) evidenceAt(ctx context.Context, c *session.Checkpoint) (session.Evidence, error) {
	ev, err := h.Evidence(ctx, session.FileEvidence)
	if err != nil || ev.Tree == c.Tree {
		return ev, err
	}
	commits, err := h.Git.Ledgers(ctx, h.ID)
	if err != nil {
		return ev, err
	}
	for _, l := range commits {
		if ev, err = h.Kit.Evidence(ctx, l.Commit, session.FileEvidence); err != nil || ev.Tree == c.Tree {
			return ev, err
		}
	}
	return h.Evidence(ctx, session.FileBaseline)
}

// notProven returns the line of the handover commit about work that was not tested in a clean tree, "" if it was.
func notProven(p *session.Proof, c *session.Checkpoint, o Options) string {
	if why := p.Unproven(c.Tree); why != "" {
		return "Not tested in a clean checkout: " + why
	}
	if o.Unproven && p == nil {
		return "Not tested in a clean checkout (--unproven)."
	}
	return ""
}
