package engine

import (
	"context"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/session"
)

// Inbox hears what other processes ask of this one.
type Inbox struct {
	*hand.Hand
	*Engine
	stop  string // id of the request to stop that this run has found
	woken bool   // by a request to wait no longer
}

// Hear takes in what other processes have asked for, in order. A note becomes an event at once, and its request is
// removed when the event is durable. A request to stop this run is kept until it is granted, see forgetStops.
func (h *Inbox) Hear() error { return h.hear("") }

// hear is Hear for a command that has posted a note of its own. Of every other one nobody knows who wrote it: an agent
// that works here may leave requests as well.
func (h *Inbox) hear(own string) error {
	list, err := h.Files.Requests()
	if err != nil {
		return err
	}
	for _, r := range list {
		switch {
		case slices.Contains(h.S.Heard, r.ID): // a process died before it could remove it
		case r.Kind == session.RequestStop && r.Driver == h.Driver:
			if h.stop == "" {
				h.stop = r.ID
			}
			continue
		case r.Kind == session.RequestNow:
			h.woken = h.woken || r.Driver == h.Driver && h.S.Status == session.StatusWaiting
		case r.Kind == session.RequestAllow || r.Kind == session.RequestBudget:
			if h.Refused != nil {
				h.Refused(r)
			}
		case r.Kind == session.RequestNote:
			if err := h.Append(session.Noted{Text: r.Text, Request: r.ID, Meanwhile: r.ID != own}); err != nil {
				return err
			}
			h.Hit("inbox/heard")
		}
		if err := h.Files.Withdraw(r.ID); err != nil {
			return err
		}
	}
	return nil
}

// forgetStops removes what asked this run to stop, or a run that is gone: it ends, whether it was for that reason or
// for another.
func (h *Inbox) forgetStops() error {
	list, err := h.Files.Requests()
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.Kind == session.RequestStop {
			if err := h.Files.Withdraw(r.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// wait waits for a limit, and goes on early when somebody asks for something.
func (h *Inbox) wait(ctx context.Context) error {
	until := time.Unix(h.S.Waiting.Until, 0)
	for h.stop == "" && !h.woken && !decide.Waited(h.S.Waiting, h.Clock.Now()) {
		if err := h.Clock.Sleep(ctx, until); err != nil {
			return nil // still waiting, and whoever cancelled knows
		}
		if err := h.Hear(); err != nil {
			return err
		}
	}
	return nil
}

// cut says why a run is being interrupted, and which request asked for it.
func (h *Inbox) cut() session.Interrupted {
	if h.Hear() == nil && h.stop != "" { // an inbox that cannot be read must not keep the run from ending
		return session.Interrupted{Why: "stopped at once, on request", Request: h.stop}
	}
	if h.Cut == nil {
		return session.Interrupted{Why: "ctrl-c"}
	}
	return session.Interrupted{Why: h.Cut()}
}
