package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// notAgreed lists what stands between a checkpoint and what was agreed at the session's birth: open items, phases that
// were skipped, reviews that were not passed.
func (h *Hand) notAgreed(c *session.Checkpoint) []string {
	s := &h.S
	var list []string
	for _, item := range s.OpenItems() {
		list = append(list, fmt.Sprintf("item %d of %d is %s: %s", item.Number, len(s.Items), item.Says(), oneLine(item.Text, 100)))
	}
	for _, p := range s.SkippedPhases {
		list = append(list, fmt.Sprintf("%s was skipped: %s", p.Phase, cmp.Or(oneLine(p.Why, 100), "no reason given")))
	}
	rejected := h.rejected(c.Tree)
	if rejected != nil {
		list = append(list, fmt.Sprintf("%s was rejected at checkpoint %d: %s", rejected.Phase, rejected.Number, rejected.Summary))
	}
	approved := func(phase session.PhaseName) bool {
		return slices.ContainsFunc(s.Approvals(&h.Plan.Workflow), func(a session.Approval) bool { return a.Phase == phase && (!s.Laps || a.Lap == c.Lap) })
	}
	for _, ph := range h.Plan.Workflow.Phases {
		needs := ph.Run.Human || ph.Review != nil || ph.Approve && ph.Name == s.Phase && s.Waiting != nil && s.Waiting.Approve
		skipped := slices.ContainsFunc(s.SkippedPhases, func(p session.SkippedPhase) bool { return p.Phase == ph.Name && p.Lap == c.Lap })
		if !needs || approved(ph.Name) || skipped || rejected != nil && rejected.Phase == ph.Name {
			continue
		}
		list = append(list, fmt.Sprintf("%s has not approved it yet", ph.Name))
	}
	return list
}

// rejected is the newest checkpoint at which a person or a reviewer sent a tree back, unless it was approved since.
func (h *Hand) rejected(t session.Tree) *session.Checkpoint {
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

// agreed refuses to hand over less than what was agreed, or a key that an agent has committed itself, unless the person says
// why.
func (h *Hand) agreed(ctx context.Context, c *session.Checkpoint, o Handover) error {
	if o.Anyway != "" {
		return nil
	}
	open, err := h.inTheWay(ctx, c)
	if err != nil || len(open) == 0 {
		return err
	}
	hint := `wfs finish --anyway "why it is handed over all the same"`
	if w := h.S.Waiting; h.S.Status == session.StatusWaiting && w.Reason == session.WaitHuman && (w.Agree || w.Approve) {
		hint = "wfs approve, or " + hint
	} else if h.S.At(h.S.Current).Class == session.ClassRejected {
		hint = "wfs run, or " + hint
	}
	return &session.Refusal{Code: session.RefuseNotAgreed, Hint: hint,
		Message: "not everything that was agreed is done:\n  " + strings.Join(open, "\n  ")}
}

// inTheWay lists all that keeps a checkpoint from being handed over without a word of why.
func (h *Hand) inTheWay(ctx context.Context, c *session.Checkpoint) ([]string, error) {
	open := h.notAgreed(c)
	base, err := h.e.Store.TreeOf(ctx, h.S.Base)
	if err != nil {
		return nil, err
	}
	keys, err := h.e.Store.Keys(ctx, base, c.Tree)
	for _, k := range keys {
		if g := (session.Guard{Allowed: h.S.Allowed}); !g.Allows(k.Path) {
			open = append(open, fmt.Sprintf("%s %s; remove it, or let it in with wfs allow", k.Path, k.Why))
		}
	}
	return open, err
}
