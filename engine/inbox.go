package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// Hear takes in what other processes have asked for, in order. A note becomes an event at once, and its request is
// removed when the event is durable. A request to stop this run is kept until it is granted, see forgetStops.
func (h *Hand) Hear() error {
	list, err := h.j.Requests()
	if err != nil {
		return err
	}
	for _, r := range list {
		switch {
		case slices.Contains(h.S.Heard, r.ID): // a process died before it could remove it
		case r.Kind == session.RequestStop && r.Driver == h.e.Driver:
			if h.stop == "" {
				h.stop = r.ID
			}
			continue
		case r.Kind == session.RequestNow:
			h.woken = h.woken || r.Driver == h.e.Driver && h.S.Status == session.StatusWaiting
		case r.Kind == session.RequestAllow && h.S.Open != nil:
			continue // what an attempt is judged by stays as it is until it has its checkpoint
		case r.Kind == session.RequestAllow:
			var refused *session.Refusal // what is to be revoked is allowed no more
			if _, err := h.allow(r.Paths, r.Revoked, r.ID); err != nil && !errors.As(err, &refused) {
				return err
			}
			h.e.hit("inbox/heard")
		case r.Kind == session.RequestBudget:
			if err := h.append(session.BudgetSet{Budget: *r.Budget, Request: r.ID}); err != nil {
				return err
			}
			h.e.hit("inbox/heard")
		case r.Kind == session.RequestNote:
			if err := h.append(session.Noted{Text: r.Text, Request: r.ID}); err != nil {
				return err
			}
			h.e.hit("inbox/heard")
		}
		if err := h.j.Withdraw(r.ID); err != nil {
			return err
		}
	}
	return nil
}

// TakeIn is Hear for a command of a person's: what they said is an operation.
func (h *Hand) TakeIn(ctx context.Context) error {
	since := h.S.Seq
	if err := h.Hear(); err != nil {
		return err
	}
	return h.logAnswer(ctx, since)
}

// forgetStops removes what asked this run to stop, or a run that is gone: it ends, whether it was for that reason or
// for another.
func (h *Hand) forgetStops() error {
	list, err := h.j.Requests()
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.Kind == session.RequestStop {
			if err := h.j.Withdraw(r.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// wait waits for a limit, and goes on early when somebody asks for something.
func (h *Hand) wait(ctx context.Context) error {
	until := time.Unix(h.S.Waiting.Until, 0)
	for h.stop == "" && !h.woken && !waited(h.S.Waiting, h.e.Clock.Now()) {
		if err := h.e.Clock.Sleep(ctx, until); err != nil {
			return nil // still waiting, and whoever cancelled knows
		}
		if err := h.Hear(); err != nil {
			return err
		}
	}
	return nil
}

// cut says why a run is being interrupted, and which request asked for it.
func (h *Hand) cut() session.Interrupted {
	if h.Hear() == nil && h.stop != "" { // an inbox that cannot be read must not keep the run from ending
		return session.Interrupted{Why: "stopped at once, as asked", Request: h.stop}
	}
	if h.e.Cut == nil {
		return session.Interrupted{Why: "ctrl-c"}
	}
	return session.Interrupted{Why: h.e.Cut()}
}
