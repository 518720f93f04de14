package cmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// inbox handles requests (notes, stops) to a session. Another process may be running the session.
type inbox struct{ *app }

// requestJSON is the JSON output of wfs note and wfs stop.
type requestJSON struct {
	Version int             `json:"version"`
	Session session.ID      `json:"session"`
	Request string          `json:"request,omitempty"`
	Taken   bool            `json:"taken"`         // already recorded as an event
	For     string          `json:"for,omitempty"` // attempt that gets a note: "running" or "next"
	Status  session.Status  `json:"status"`
	Driver  *present.Driver `json:"driver,omitempty"`
	Next    []string        `json:"next"`
}

// asked is the result of a user's request.
type asked struct {
	request string           // id of the request
	kept    error            // why it is still pending; nil if it is an event already
	by      *registry.Holder // the run that will read it; nil if there is no run
	listens bool             // the agent at work gets it, if it is a note
	session *session.Session // the session's current state
	next    []string
}

// request posts a request to the session's inbox, so that it cannot get lost. If no run will read the inbox, it then
// records the request in the session itself.
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
		k.listens = a.listens(k.session, held.Holder)
	}
	d, _, err := a.seen(ctx, k.session)
	k.next = d.Next
	return k, err
}

// listens reports whether the agent at work gets a note that was posted before this call.
func (a inbox) listens(s *session.Session, who registry.Holder) bool {
	if s.Open == nil || !workspace.IsRun(who) {
		return false
	}
	dir, err := a.Clone.Session(s.ID).RunDir(s.Open.RunID)
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, agent.ListensFile))
	}
	return err == nil
}

// takeIn reads the inbox of a session and records its requests, if no other process holds the session. `own` is the id
// of the request that this command has posted. If takeIn fails, the requests stay pending.
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

// wake tells a run that waits until a usage limit resets to try again at once. The run may be in the background or in
// another terminal. `woken` is false if no run holds the session, or if the options o include some that a run in
// progress cannot accept. If a run holds the session but is not waiting, wake returns an error.
func (a inbox) wake(ctx context.Context, name string, o engine.RunOptions) (woken bool, err error) {
	if o != (engine.RunOptions{Now: true, Note: o.Note}) {
		return false, nil
	}
	if err := a.OpenWriter(ctx); err != nil { // a writer, because the command may become a run itself
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

// sayAsked prints that a run was asked for something, and what it will do (`does`). `then` is a next command.
func (a inbox) sayAsked(s *session.Session, r session.Request, who registry.Holder, does, then string) error {
	next := []string{"wfs watch " + string(s.ID), then}
	if a.json {
		return a.answer(requestJSON{Version: jsonVersion, Session: s.ID, Request: r.ID, Status: s.Status,
			Driver: driverOf(who), Next: next})
	}
	a.out("asked: `%s` (pid %d) %s", who.Command, who.PID, does)
	a.next(next)
	return nil
}
