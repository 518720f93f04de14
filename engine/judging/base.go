package judging

import (
	"context"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// JudgeBase runs the gates on the base, and the hold-out tests (tests of the user that the agent never sees) if there
// are any. It returns the results, and a refusal if gates cannot judge the base.
func (h *Judging) JudgeBase(ctx context.Context, tree session.Tree) (session.Baseline, session.Evidence, error) {
	dir, err := h.Files.RunDir("baseline")
	if err != nil {
		return session.Baseline{}, session.Evidence{}, err
	}
	b, ev, err := h.Gates.Baseline(ctx, *h.Plan, tree, dir)
	if err == nil && h.Plan.Holdout != nil {
		err = h.holdOutBase(ctx, &b, ev, dir)
	}
	if err != nil && ctx.Err() == nil {
		err = &session.Refusal{Code: session.RefuseBaseline, Message: err.Error(),
			Hint: "edit .wfs/config.yaml, then run it again"}
	}
	if err == nil {
		err = h.mustBuild(b)
	}
	return b, ev, err
}

// mustBuild refuses a base whose tests cannot be built if a phase expects new tests to fail. On such a base every test
// fails, so a failure would not show that a feature is missing.
func (h *Judging) mustBuild(b session.Baseline) error {
	for _, p := range h.Plan.Workflow.Phases {
		for _, g := range p.Gates {
			i := slices.IndexFunc(b.Gates,
				func(r session.GateResult) bool { return r.Gate == g.Name && r.Class == session.ClassBuildBroken })
			if g.Expect == workflows.ExpectRed && i >= 0 {
				return &session.Refusal{Code: session.RefuseUnbuilt,
					Hint: fmt.Sprintf("wfs abandon %s -m 'the base does not build'", h.ID),
					Message: fmt.Sprintf("no test of gate %s can be built or loaded here (%s), and phase %s asks for new tests that fail",
						g.Name, safetext.First(b.Gates[i].KnownRed, 5, ", "), p.Name)}
			}
		}
	}
	return nil
}

// holdOutBase runs hold-out tests on the base, before any work, to check that they can run at all.
func (h *Judging) holdOutBase(ctx context.Context, b *session.Baseline, ev session.Evidence, runDir string) error {
	req := session.JudgeRequest{Session: h.ID, Tree: b.Tree, Plan: *h.Plan, LapStart: ev, RunDir: runDir,
		Known: slices.Concat(b.Red, b.Flaky),
		Phase: workflows.Phase{Gates: h.HoldingOut(h.Plan.Baseline)}}
	r, err := h.Gates.Holdout(ctx, req, true)
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
