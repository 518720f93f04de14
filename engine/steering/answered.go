package steering

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/workflows"
)

// IsAnswer reports whether an event is an answer or a note of a person.
func IsAnswer(b session.Body) bool {
	switch b := b.(type) {
	case session.Noted:
		return !b.Meanwhile
	case session.Allowed, session.BudgetSet:
		return true
	case session.Agreed:
		return b.By == "person"
	}
	return false
}

// LogAnswer logs a person's answers and notes after the event with the number `since` as one operation, which `wfs
// undo` can undo. It logs nothing if a turn has logged them already.
func (h *Steering) LogAnswer(ctx context.Context, since int64) error {
	var kind string
	var what []string
	for _, ev := range h.Live {
		if ev.Seq <= since {
			continue
		}
		switch b := ev.Body.(type) {
		case session.Noted:
			if b.Meanwhile {
				continue
			}
			kind, what = hand.OpNote, append(what, b.Text)
			if b.Back {
				kind = hand.OpReject
			}
		case session.Allowed:
			kind, what = hand.OpAllow, append(what, b.Paths...)
		case session.BudgetSet:
			kind = hand.OpBudget
		case session.Agreed:
			kind = hand.OpApprove
		}
	}
	if kind == "" {
		return nil
	}
	summary := kind + " " + string(h.ID)
	if len(what) > 0 {
		summary = safetext.WithReason(summary, hand.FirstOf(what))
	}
	_, err := h.RecordOp(ctx, func(t session.Turn) session.Body {
		return session.Answered{Op: kind, Summary: summary, Since: since, Turn: t}
	})
	return err
}

// SetBudget replaces the session's caps.
func (h *Steering) SetBudget(ctx context.Context, b workflows.Budget) error {
	since := h.S.Seq
	if err := h.Append(session.BudgetSet{Budget: b}); err != nil {
		return err
	}
	return h.LogAnswer(ctx, since)
}

// Allow allows paths, with everything below them, that the guard holds out: from now on, checkpoints contain them. With
// `revoke`, it takes the permission back. It returns the paths that were held out until now or, with `revoke`, the
// paths that are no longer allowed.
func (h *Steering) Allow(ctx context.Context, paths []string, revoke bool) ([]string, error) {
	since := h.S.Seq
	text, err := h.Files.Exclude()
	if err != nil {
		return nil, err
	}
	rules, guard := codec.SplitGuard(text)
	var done []string
	for _, p := range paths {
		if revoke {
			if !slices.Contains(h.S.Allowed, p) {
				return nil, session.Refuse(session.RefuseUsage, "wfs allow --list",
					"%s is not on the list of allowed paths", p)
			}
			guard = guard.Revoke(p)
			done = append(done, p)
			continue
		}
		for _, k := range guard.Held {
			if session.IsWithin(strings.TrimSuffix(k.Path, "/"), p) {
				done = append(done, k.Path)
			}
		}
		guard = guard.Allow(p)
	}
	// Append the event before the rules change: if this process dies in between, the next command updates the rules from
	// the event.
	if err := h.Append(session.Allowed{Paths: paths, Revoked: revoke}); err != nil {
		return nil, err
	}
	h.Hit("paths/allowed")
	if err := h.SetExclude(rules, guard); err != nil {
		return nil, err
	}
	return done, h.LogAnswer(ctx, since)
}

// Seen records that a person has seen the changes that runs made outside the session's branch and files.
func (h *Steering) Seen() error {
	if h.S.Unseen == nil {
		return nil
	}
	return h.Append(session.Strayed{Seen: true})
}
