package judging

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Judge runs guards and gates on the open attempt's tree. If the attempt completes the work, it also runs the final
// checks: the remaining gates, the proof in a clean tree, and hold-out tests. work is ctx without its cancellation.
func (h *Judging) Judge(ctx, work context.Context, req session.JudgeRequest) (session.Judgement, error) {
	j, err := h.verdict(ctx, req, h.S.Open)
	if err == nil {
		h.countLines(work, h.S.Open, &j)
	}
	for _, further := range []func(context.Context, session.JudgeRequest, session.Judgement) (session.Judgement, error){
		h.judgeRest, h.prove, h.holdOut,
	} {
		if err == nil && ctx.Err() == nil {
			j, err = further(ctx, req, j)
		}
	}
	return j, err
}

// countLines counts the lines of code, without tests, that the lap changed, if their number decides which phase
// follows. If git cannot compare the trees, the count is unknown and no phase is skipped.
func (h *Judging) countLines(ctx context.Context, o *session.Open, j *session.Judgement) {
	ph, tidying := h.Plan.Workflow.Phase(o.Phase), h.Plan.Workflow.Tidying()
	if h.Plan.Workflow.Refactor != workflows.RefactorAuto || tidying == nil || ph == nil ||
		ph.On[workflows.Pass] != tidying.Name || j.Verdict != session.Pass {
		return
	}
	lines, err := h.Trees.Lines(ctx, session.TreePair{From: h.S.LapTree, To: j.Tree})
	if err != nil {
		return
	}
	n := 0
	for _, f := range lines[0] {
		switch {
		case h.HoldsTests(f.Path):
		case f.Binary:
			n += workflows.SmallLap
		default:
			n += f.Added + f.Removed
		}
	}
	j.Lines = &n
}

// verdict runs the gates, unless a person has rejected the attempt. The approval of a person passes the attempt only if
// no gate fails.
func (h *Judging) verdict(ctx context.Context, req session.JudgeRequest, o *session.Open) (session.Judgement, error) {
	if o.Run.Rejected {
		return session.Judgement{Tree: req.Tree, Verdict: session.Fail, Class: session.ClassRejected,
			Reason: safetext.WithReason("rejected", o.Run.Note)}, nil
	}
	j, err := h.Gates.Judge(ctx, req)
	if err != nil {
		return j, err
	}
	decide.Asks(h.Plan, &req.Phase, &j)
	decide.Insists(&h.S, &j)
	if o.Run.Approved && j.Class == session.ClassAsked && !decide.SaysNo(j.Gates) { // the approval answers this question
		j.Verdict, j.Question = session.Pass, nil
	}
	if o.Run.Approved && j.Verdict == session.Pass {
		j.Class, j.Reason = session.ClassApproved, safetext.WithReason("approved", o.Run.Note)
		for _, t := range h.S.Tampered { // the person saw these findings
			if !slices.Contains(j.Tampered, t) {
				j.Tampered = append(j.Tampered, t)
			}
		}
	}
	j.Ungated = !runsGate(req.Phase) && slices.ContainsFunc(h.Plan.Workflow.Phases, runsGate)
	return j, nil
}

func runsGate(p workflows.Phase) bool {
	return slices.ContainsFunc(p.Gates, func(g workflows.Gate) bool { return g.Runs() })
}

// Request returns the request to judge the open attempt, given the snapshot of its files.
func (h *Judging) Request(ctx context.Context, snap session.Snapshot) (req session.JudgeRequest, err error) {
	o := h.S.Open
	st := h.Trees
	req = session.JudgeRequest{Session: h.ID, Phase: *h.Plan.Workflow.Phase(o.Phase), Plan: *h.Plan,
		Targets: h.S.Targets, Expected: h.S.Expected, Gone: h.S.Gone, TargetsOf: h.S.TargetsOf, Tree: snap.Tree,
		Given: h.given(snap.Skipped), Spec: h.S.SpecPath}
	if req.Changed, err = st.Changes(ctx, h.S.LapTree, snap.Tree); err != nil {
		return req, err
	}
	// The guards check all changes of the visit, that is of all attempts in a row at this phase. If they checked only the
	// changes of this attempt, an attempt that leaves an earlier refused change in place would pass.
	req.VisitTree = h.S.Visit.Tree
	if req.Visit, err = st.Changes(ctx, h.S.Visit.Tree, snap.Tree); err != nil {
		return req, err
	}
	if req.Own, err = st.Changes(ctx, h.S.Untouched(), snap.Tree); err != nil {
		return req, err
	}
	keys, err := h.KeysSince(ctx, h.S.Untouched(), snap.Tree)
	if err != nil {
		return req, err
	}
	req.Given = append(req.Given, keys...)
	if req.Baseline, err = h.Evidence(ctx, session.FileBaseline); err != nil {
		return req, err
	}
	if req.LapStart, err = h.Evidence(ctx, session.FileLap); err != nil {
		return req, err
	}
	if req.LapStart.Gates == nil { // the first lap begins at the base
		req.LapStart = req.Baseline
	}
	req.BaseNumbers = map[string]map[string]float64{}
	if h.S.Base0 != nil {
		for _, g := range h.S.Base0.Gates {
			req.BaseNumbers[g.Gate] = g.Numbers
		}
	}
	req.Frozen, req.TestChange = decide.Frozen(&h.S, h.Plan), h.S.TestChange != ""
	req.Packages = o.Run.Approved && h.S.Last != nil && h.S.Last.Question != nil && h.S.Last.Question.Packages
	req.Approved = o.Run.Approved && !req.Packages
	req.NothingLeft, req.SentBack = o.Run.NothingLeft, h.S.SentBack()
	if !h.S.Laps {
		req.Items = h.S.Items
	}
	req.FrozenAt, req.LapTree = h.S.Having(req.Frozen), h.S.LapTree
	req.Known = h.Known()
	req.RunDir, err = h.Files.RunDir(o.RunID)
	return req, err
}

// given returns the skipped files that contain a key, except those that checkpoint 0 or a checkpoint of a person has
// skipped already: the latter keys are the person's.
func (h *Judging) given(skipped []session.Skip) (given []session.Skip) {
	seen := map[string]bool{}
	for _, c := range h.S.Checkpoints {
		if c.Number == 0 || hand.Logged(c.Trigger) {
			for _, s := range c.Skipped {
				seen[s.Path] = true
			}
		}
	}
	for _, s := range skipped {
		if s.Rule != "" && !seen[s.Path] {
			given = append(given, s)
		}
	}
	return given
}

// KeysSince lists the files of the tree `to` with a key that the tree `from` does not have, except files that a person
// has allowed. Such keys came with commits, since snapshots leave out new files with keys.
func (h *Judging) KeysSince(ctx context.Context, from, to session.Tree) ([]session.Skip, error) {
	keys, err := h.Trees.Keys(ctx, from, to)
	g := session.Guard{Allowed: h.S.Allowed}
	return slices.DeleteFunc(keys, func(k session.Skip) bool { return g.Allows(k.Path) }), err
}
