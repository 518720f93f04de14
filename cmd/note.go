package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

func (a *app) noteCmd() *cobra.Command {
	return &cobra.Command{
		Use: "note TEXT [SESSION]", Short: "a word for the next attempt, also while a run is driving",
		Long: `Note leaves a person's word for whoever works next: it stands in the brief of the next attempt. It can be left at any
time, also while a run drives the session from elsewhere. To a question that the session waits for it is the answer.

It is on the disk when the command returns. A run takes it in between two steps; the attempt that is going on has its
brief already.`,
		Example: `  wfs note "dates are ISO 8601"
  wfs note "use the standard library" csv-export
  wfs run --note "…"                     the same, and go on`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || strings.TrimSpace(args[0]) == "" {
				return &usageError{"a note needs a text", c.CommandPath() + ` "what the next attempt should know"`}
			}
			return upTo(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.leaveNote(c.Context(), args[0], first(args[1:]))
		},
	}
}

// requestJSON is what note and stop print.
type requestJSON struct {
	Version int            `json:"version"`
	Session session.ID     `json:"session"`
	Request string         `json:"request,omitempty"`
	Taken   bool           `json:"taken"` // it is an event already
	Status  session.Status `json:"status"`
	Driver  *driverJSON    `json:"driver,omitempty"`
	Next    []string       `json:"next"`
}

// leaveNote posts first, so that the word is kept whatever happens, and then sees whether somebody has to take it in.
func (a *app) leaveNote(ctx context.Context, text, name string) error {
	if err := a.openFor(ctx, true); err != nil {
		return err
	}
	id, err := a.resolve(ctx, name)
	if err != nil {
		return err
	}
	v, err := a.view(ctx, id)
	if err != nil {
		return err
	}
	if s := &v.Session; s.Status.Final() {
		return &session.Refusal{Code: session.RefuseFinal, Message: id.Display() + " is " + string(s.Status) + ": nobody would read it", Hint: "wfs show " + string(id)}
	}
	r, err := a.clone.Post(id, session.Request{Kind: session.RequestNote, Text: text}, a.env.Now(), a.env.newID(4))
	if err != nil {
		return err
	}
	s, kept := a.takeIn(ctx, "wfs note", id)
	if s == nil {
		s = &v.Session
	}
	j := requestJSON{Version: jsonVersion, Session: id, Request: r.ID, Taken: kept == nil, Status: s.Status}
	var held *registry.HeldError
	if errors.As(kept, &held) {
		j.Driver = &driverJSON{held.Holder.PID, held.Holder.Command}
	}
	d, _, err := a.seen(ctx, s)
	if err != nil {
		return err
	}
	j.Next = d.Next
	if a.json {
		return a.answer(j)
	}
	switch {
	case kept == nil:
		a.out("noted for the next attempt of %s", id.Display())
	case j.Driver != nil:
		a.out("noted: %s takes it in after its present step, and the next attempt is told", held.Holder.Command)
	default:
		a.out("noted: the next wfs run takes it in (not now: %s)", kept)
	}
	a.next(j.Next)
	return nil
}

// takeIn takes in what waits in a session's inbox, if nobody drives it. The error says why not; the requests wait on.
func (a *app) takeIn(ctx context.Context, command string, id session.ID) (*session.Session, error) {
	if who, held, err := a.clone.Driver(id); err != nil {
		return nil, err
	} else if held {
		return nil, &registry.HeldError{Holder: who, What: "session " + string(id) + " is driven", At: a.env.Now().Unix()}
	}
	if err := a.beginAt(ctx, command, string(id), true); err != nil {
		return nil, err
	}
	if err := a.hold(command, id); err != nil {
		return nil, err
	}
	h, err := a.take(ctx, id)
	if err != nil {
		return nil, err
	}
	err = h.Hear()
	a.close()
	return &h.S, err
}
