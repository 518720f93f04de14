package engine

import (
	"context"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/session"
)

// Inbox reads requests from other processes.
type Inbox struct {
	*hand.Hand
	*Engine
	stop  string // id of a request to stop this run, "" for none
	woken bool   // a request asked to end the current wait
}

// Hear handles the requests from other processes, in order. A note becomes an event at once; its request is removed
// when the event is durable. A request to stop this run is kept until the run ends, see forgetStops.
func (h *Inbox) Hear() error { return h.hear("") }

// hear does the work of Hear. A command that has posted a note itself passes the id of this note as `own`. It marks all
// other notes as Meanwhile, because their authors are unknown: an agent that works here can post requests, too.
func (h *Inbox) hear(own string) error {
	list, err := h.Files.Requests()
	if err != nil {
		return err
	}
	for _, r := range list {
		switch {
		case slices.Contains(h.S.Heard, r.ID): // a process handled it, and died before it could remove it
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
			n := session.Noted{Text: r.Text, Request: r.ID, Meanwhile: r.ID != own}
			if o := h.S.Open; o != nil && o.Run != nil {
				n.Given = slices.Contains(o.Run.Given, r.ID)
			}
			if err := h.Append(n); err != nil {
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

// forgetStops removes all requests to stop, to this run or to earlier ones. It is called when a run ends for any
// reason, so that an old request does not stop a later run.
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

// wait waits until the session's waiting time is over, for example because the agent's usage limit resets. It returns
// early when a request arrives to stop or to go on, or when ctx is cancelled.
func (h *Inbox) wait(ctx context.Context) error {
	until := time.Unix(h.S.Waiting.Until, 0)
	for h.stop == "" && !h.woken && !decide.Waited(h.S.Waiting, h.Clock.Now()) {
		if err := h.Clock.Sleep(ctx, until); err != nil {
			return nil // still waiting; the caller cancelled ctx
		}
		if err := h.Hear(); err != nil {
			return err
		}
	}
	return nil
}

// cut returns the event that records an interruption, with its reason, and with the id of the request that asked for
// it, if any.
func (h *Inbox) cut() session.Interrupted {
	if h.Hear() == nil && h.stop != "" { // an unreadable inbox must not keep the run from ending
		return session.Interrupted{Why: "stopped at once, on request", Request: h.stop}
	}
	if h.Cut == nil {
		return session.Interrupted{Why: "ctrl-c"}
	}
	return session.Interrupted{Why: h.Cut()}
}
