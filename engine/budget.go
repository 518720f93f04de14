package engine

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

// Today returns the current day.
func (e *Engine) Today() decide.Day {
	if e.Day == nil {
		from := e.Clock.Now().Truncate(24 * time.Hour).Unix()
		return decide.Day{From: from, To: from + 24*3600}
	}
	return e.Day(e.Clock.Now())
}

// lookElsewhere adds the current day and the usage of other sessions to the facts `f`. It also keeps that usage in
// h.scopes, for the limits of the next run.
func (h *Drive) lookElsewhere(ctx context.Context, f *decide.Facts) error {
	var err error
	f.Day = h.Today()
	f.Elsewhere, err = h.Elsewhere(ctx, h.ID, f.Day)
	h.scopes = func() []decide.Scope {
		return decide.Scopes(&h.S, decide.BudgetOf(&h.S, h.Plan), f.Day, f.Elsewhere.Used)
	}
	return err
}

// Elsewhere returns the usage of all sessions of this clone on a day, without the session `but`. It includes sessions
// that were deleted recently, because their spending still counts. It skips sessions that cannot be read, so that these
// do not prevent work on the others.
func (e *Engine) Elsewhere(ctx context.Context, but session.ID, day decide.Day) (decide.Elsewhere, error) {
	var sum decide.Elsewhere
	all, err := e.Git.Sessions(ctx)
	if err != nil {
		return sum, err
	}
	for id, tip := range all {
		if id == but {
			continue
		}
		if v, err := e.Load(ctx, id, tip); err == nil {
			sum.Add(&v.Session, day)
		}
	}
	below := strings.TrimSuffix(transition.DeletedPrefix, "/")
	deleted, err := e.Git.RefsBelow(ctx, below)
	if err != nil {
		return sum, err
	}
	for name, tip := range deleted { // named refs/wfs-deleted/<id>/<when>/ledger
		parts := strings.Split(strings.TrimPrefix(name, transition.DeletedPrefix), "/")
		if len(parts) != 3 || parts[2] != "ledger" {
			continue
		}
		when, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil || when < day.From-3600 {
			continue
		}
		if s, err := e.AtTip(ctx, session.ID(parts[0]), tip); err == nil {
			sum.Add(&s, day)
		}
	}
	return sum, nil
}

// found records the usage of the open attempt's run, when no RunEnded event will record it.
func (h *Outside) found(u cost.Usage) error { return h.left(session.Remains{Usage: u}) }

// left records the reconstructed usage of the open attempt's run, whose driver was killed or failed, and the
// conversation that the next attempt can resume. It does nothing if the usage or the end of the run is recorded
// already.
func (h *Outside) left(r session.Remains) error {
	o, u := h.S.Open, r.Usage
	if r == (session.Remains{}) || o == nil || o.Found || o.Run != nil {
		return nil
	}
	if u.USD == 0 {
		u.Estimated = h.S.Estimate(r.Agent, r.Model, u.Tokens)
		u.USD = u.Estimated
	}
	if o.Runner != "command" {
		u.Runs = 1
		if u.USD > 0 {
			u.Priced = 1
		}
	}
	return h.Append(session.UsageFound{RunID: o.RunID, Usage: u, Conversation: r.Conversation})
}
