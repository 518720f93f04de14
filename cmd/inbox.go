package cmd

import (
	"context"
	"errors"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// inbox leaves requests to a session that another process may be running.
type inbox struct{ *app }

// requestJSON is the output of note and stop.
type requestJSON struct {
	Version int             `json:"version"`
	Session session.ID      `json:"session"`
	Request string          `json:"request,omitempty"`
	Taken   bool            `json:"taken"` // already recorded as an event
	Status  session.Status  `json:"status"`
	Driver  *present.Driver `json:"driver,omitempty"`
	Next    []string        `json:"next"`
}

// asked is the result of a user's request.
type asked struct {
	request string           // its id
	kept    error            // why it is still pending; nil: it is an event already
	by      *registry.Holder // the run that will read it; nil: no run
	session *session.Session // its current state
	next    []string
}

// request posts a request, so that it is not lost, and then reads it into the session unless a run will do that.
func (a inbox) request(ctx context.Context, command string, v history.View, request session.Request) (asked, error) {
	id := v.Session.ID
	r, err := a.Post(id, request)
	if err != nil {
		return asked{}, err
	}
	k := asked{request: r.ID, session: &v.Session}
	var s *session.Session
	if s, k.kept = a.takeIn(ctx, command, id, r.ID); s != nil {
		k.session = s
	}
	var held *registry.HeldError
	if errors.As(k.kept, &held) {
		k.by = &held.Holder
	}
	d, _, err := a.seen(ctx, k.session)
	k.next = d.Next
	return k, err
}

// takeIn reads the inbox of a session that no other process holds; own is the request of this command. After an error
// the requests stay pending.
func (a inbox) takeIn(ctx context.Context, command string, id session.ID, own string) (*session.Session, error) {
	if err := a.NotHeld(id, "is running"); err != nil {
		return nil, err
	}
	h, err := a.InHand(ctx, workspace.Request{Command: command, Session: string(id)})
	if err != nil {
		return nil, err
	}
	err = h.TakeIn(ctx, own)
	a.Close()
	return &h.S, err
}

// wake asks a run that waits for a limit, in the background or in another terminal, to try at once. woken is false if
// no run waits, or for options that a run in progress cannot accept.
func (a inbox) wake(ctx context.Context, name string, o engine.RunOptions) (woken bool, err error) {
	if o != (engine.RunOptions{Now: true, Note: o.Note}) {
		return false, nil
	}
	if err := a.OpenWriter(ctx); err != nil { // a writer, because it may continue as an ordinary run
		return false, err
	}
	id, err := a.Resolve(ctx, name)
	if err != nil {
		return false, err
	}
	who, held, err := a.Driver(ctx, id)
	if err != nil || !held || !workspace.IsRun(who) {
		return false, err
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return false, err
	}
	s := &v.Session
	if s.Status != session.StatusWaiting || s.Waiting.Reason != session.WaitLimit {
		return false, a.HeldBy(who, "%s is running in %s, and does not wait for a limit", id, s.Phase)
	}
	if o.Note != "" {
		if _, err := a.Post(id, session.Request{Kind: session.RequestNote, Text: a.Redact(o.Note)}); err != nil {
			return false, err
		}
	}
	r, err := a.Post(id, session.Request{Kind: session.RequestNow, Driver: who.Name()})
	if err != nil {
		return false, err
	}
	return true, a.sayAsked(s, r, who, "tries again now, and does not wait any longer", "wfs stop "+string(id))
}

// sayAsked prints the request that was left for a run, and what the run will do.
func (a inbox) sayAsked(s *session.Session, r session.Request, who registry.Holder, does, then string) error {
	next := []string{"wfs watch " + string(s.ID), then}
	if a.json {
		return a.answer(requestJSON{jsonVersion, s.ID, r.ID, false, s.Status, driverOf(who), next})
	}
	a.out("asked: `%s` (pid %d) %s", who.Command, who.PID, does)
	a.next(next)
	return nil
}
