package engine

import (
	"context"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// Hear takes in what other processes have asked for, in order. A note becomes an event at once, and its request is
// removed when the event is durable. A request to stop this run is kept until it is granted, see forgetStops.
func (h *Hand) Hear() error { return h.hear("") }

// hear is Hear for a command that has posted a note of its own. Of every other one nobody knows who wrote it: an agent
// that works here may leave requests as well.
func (h *Hand) hear(own string) error {
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
		case r.Kind == session.RequestAllow || r.Kind == session.RequestBudget:
			if h.e.Refused != nil {
				h.e.Refused(r)
			}
		case r.Kind == session.RequestNote:
			if err := h.append(session.Noted{Text: r.Text, Request: r.ID, Meanwhile: r.ID != own}); err != nil {
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

// TakeIn is Hear for a command of a person's: what they said in the request own is an operation.
func (h *Hand) TakeIn(ctx context.Context, own string) error {
	since := h.S.Seq
	if err := h.hear(own); err != nil {
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
		return session.Interrupted{Why: "stopped at once, on request", Request: h.stop}
	}
	if h.e.Cut == nil {
		return session.Interrupted{Why: "ctrl-c"}
	}
	return session.Interrupted{Why: h.e.Cut()}
}
