package finish

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// unpassed lists, for people, the reviews and approvals that a checkpoint lacks.
func (h *Finisher) unpassed(c *session.Checkpoint) (list []string) {
	s := &h.S
	rejected := h.rejected(c.Tree)
	if rejected != nil {
		why := rejected.Summary
		for _, x := range rejected.Said {
			if x.From == rejected.Phase {
				why = safetext.OneLine(x.Text, 100)
			}
		}
		list = append(list, fmt.Sprintf("%s was rejected at checkpoint %d: %s", rejected.Phase, rejected.Number, why))
	}
	approved := func(phase session.PhaseName) bool {
		return slices.ContainsFunc(items.Approvals(s, &h.Plan.Workflow),
			func(a items.Approval) bool {
				return a.Phase == phase && (!s.Laps || s.Then != "" || a.Lap == 0 || a.Lap == c.Lap)
			})
	}
	for _, ph := range h.Plan.Workflow.Phases {
		needs := ph.Run.Human || ph.Review != nil || ph.Approve && ph.Name == s.Phase && s.Waiting != nil && s.Waiting.Approve
		skipped := slices.ContainsFunc(s.SkippedPhases,
			func(p session.SkippedPhase) bool { return p.Phase == ph.Name && p.Lap == c.Lap })
		if !needs || approved(ph.Name) || skipped || rejected != nil && rejected.Phase == ph.Name {
			continue
		}
		list = append(list, fmt.Sprintf("%s has not approved it yet", ph.Name))
	}
	return list
}

// rejected returns the newest checkpoint at which a person or a reviewer rejected a tree, nil if there is none or the
// tree was approved since.
func (h *Finisher) rejected(t session.Tree) *session.Checkpoint {
	for _, c := range slices.Backward(h.S.Checkpoints) {
		switch {
		case c.Tree != t:
		case c.Class == session.ClassRejected:
			return &c
		case c.Class == session.ClassApproved || c.Class == session.ClassReviewed:
			return nil
		}
	}
	return nil
}

// agreed refuses to hand over a checkpoint with less than was agreed, or with a key that an agent has committed, unless
// the user gives a reason.
func (h *Finisher) agreed(ctx context.Context, c *session.Checkpoint, o Options) error {
	if o.Anyway != "" {
		return nil
	}
	open, err := h.inTheWay(ctx, c)
	if err != nil || len(open) == 0 {
		return err
	}
	hint := `wfs finish --anyway "why it is good enough"`
	if w := h.S.Waiting; h.S.Status == session.StatusWaiting && w.Reason == session.WaitHuman && (w.Agree || w.Approve) {
		hint = "wfs approve, or " + hint
	} else if h.S.At(h.S.Current).Class == session.ClassRejected {
		hint = "wfs run, or " + hint
	}
	return session.Refuse(session.RefuseNotAgreed, hint, "not finished yet:\n  %s", strings.Join(open, "\n  "))
}

// inTheWay lists everything that is missing compared to the agreement at the session's birth: open items, skipped
// phases, missing reviews, and keys.
func (h *Finisher) inTheWay(ctx context.Context, c *session.Checkpoint) (list []string, err error) {
	s := &h.S
	for _, item := range items.Open(s) {
		list = append(list, fmt.Sprintf("item %d of %d is %s: %s", item.Number, len(s.Items), item.Says(),
			safetext.OneLine(item.Text, 100)))
	}
	for _, p := range s.SkippedPhases {
		what := "skipped"
		if p.Unjudged() {
			what = "not judged"
		}
		list = append(list, fmt.Sprintf("%s was %s: %s", p.Phase, what,
			cmp.Or(safetext.OneLine(p.Why, 100), "no reason given")))
	}
	keys, err := h.keysOf(ctx, c)
	for _, k := range keys {
		list = append(list, k+"; remove it, or allow it with wfs allow")
	}
	if err != nil {
		return nil, err
	}
	ahead, err := h.notReached(ctx, c)
	return append(append(list, ahead...), h.unpassed(c)...), err
}

// notReached lists the phases from a checkpoint to the end of its lap that have a gate which has not passed on the
// checkpoint's tree.
func (h *Finisher) notReached(ctx context.Context, c *session.Checkpoint) (list []string, err error) {
	s, w := &h.S, &h.Plan.Workflow
	if c.Next == workflows.Done || c.NextLap != c.Lap && c.Next != s.Then {
		return nil, nil
	}
	gates, err := h.JudgedAt(ctx, c)
	if err != nil {
		return nil, err
	}
	passed := func(g workflows.Gate) bool {
		return !g.Runs() || g.Expect == workflows.ExpectRed ||
			slices.ContainsFunc(gates, func(r session.GateResult) bool { return r.Gate == g.Name && r.Verdict == session.Pass })
	}
	seen := map[session.PhaseName]bool{}
	for at := w.Phase(c.Next); at != nil && !seen[at.Name]; at = w.Phase(at.On[workflows.Verdict(session.Pass)]) {
		seen[at.Name] = true
		if i := slices.IndexFunc(at.Gates, func(g workflows.Gate) bool { return !passed(g) }); i >= 0 {
			list = append(list, fmt.Sprintf("%s has not passed yet: gate %s has not judged the work", at.Name, at.Gates[i].Name))
		}
	}
	return list, nil
}

// keysOf lists the files of a checkpoint with a key that the base does not have.
func (h *Finisher) keysOf(ctx context.Context, c *session.Checkpoint) (list []string, err error) {
	base, err := h.Git.TreeOf(ctx, h.S.Base)
	if err != nil {
		return nil, err
	}
	keys, err := h.KeysSince(ctx, base, c.Tree)
	for _, k := range keys {
		list = append(list, k.Path+" "+k.Why)
	}
	return list, err
}
