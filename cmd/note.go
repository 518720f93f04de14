package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

func (a *app) noteCmd() *cobra.Command {
	var text string
	c := &cobra.Command{
		Use: "note [SESSION] -m TEXT", Short: "message for the next attempt, or answer to a question",
		Long: `Note leaves a message for the next attempt: it stands in its brief. If the session waits for an answer,
it is the answer.

You can leave one at any time, also during a run. wfs cannot know then whether you or the agent typed it: the
next attempt learns that it may not be from a person, no reviewer sees it, and it answers no question.

The note is on disk when the command returns. The current attempt has its brief already. Completed work is taken
up again by the next wfs run, with the note. Without -m the first argument is the text.`,
		Example: `  wfs note "dates are ISO 8601"
  wfs note csv-export -m "use the standard library"
  wfs run --note "…"                     the same, and continue`,
		Args: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("message") && len(args) > 0 {
				text, args = args[0], args[1:]
			}
			if strings.TrimSpace(text) == "" {
				return usage(c.CommandPath()+` -m "what the next attempt should know"`, "a note needs a text")
			}
			return upTo(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			bare := !c.Flags().Changed("message")
			if bare {
				args = args[1:]
			}
			return a.leaveNote(c.Context(), text, first(args), bare)
		},
	}
	c.Flags().StringVarP(&text, "message", "m", "", "the note")
	return c
}

// requestJSON is what note and stop print.
type requestJSON struct {
	Version int             `json:"version"`
	Session session.ID      `json:"session"`
	Request string          `json:"request,omitempty"`
	Taken   bool            `json:"taken"` // it is an event already
	Status  session.Status  `json:"status"`
	Driver  *present.Driver `json:"driver,omitempty"`
	Next    []string        `json:"next"`
}

// leaveNote leaves a note. bare says that the text was typed without -m.
func (a *app) leaveNote(ctx context.Context, text, name string, bare bool) error {
	if err := a.OpenWriter(ctx); err != nil {
		return err
	}
	if bare {
		if err := a.noteMissing(ctx, text, name); err != nil {
			return err
		}
	}
	id, err := a.Resolve(ctx, name)
	if err != nil {
		return err
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	if err := takesNote(&v.Session, text); err != nil {
		return err
	}
	k, err := a.request(ctx, "wfs note", v, session.Request{Kind: session.RequestNote, Text: a.Redact(text)})
	if err != nil {
		return err
	}
	j := requestJSON{Version: jsonVersion, Session: id, Request: k.request, Taken: k.kept == nil,
		Status: k.session.Status, Next: k.next}
	if k.by != nil {
		j.Driver = driverOf(*k.by)
	}
	switch {
	case a.json:
		return a.answer(j)
	case k.kept == nil:
		said := "noted for the next attempt of %s"
		if j.Status == session.StatusCompleted {
			said = "noted: %s is complete, and the next run takes it up again"
		}
		a.out(said, id)
		a.out("undo: wfs undo %s", id)
	case k.by != nil:
		a.out("noted; %s takes it in after its present step, and tells the next attempt that it may not be from a person",
			k.by.Command)
	default:
		a.out("noted; the next wfs run takes it in, as one that may not be from a person (not now: %s)", k.kept)
	}
	a.next(j.Next)
	return nil
}

// noteMissing refuses a text that is the name of a session: its note was forgotten, or comes after it.
func (a *app) noteMissing(ctx context.Context, text, name string) error {
	id, err := session.ParseID(text)
	if err != nil {
		return nil
	}
	tip, err := a.Repo.Ref(ctx, session.LedgerOf(id))
	if err != nil || tip == "" {
		return err
	}
	if _, unknown := a.Resolve(ctx, name); name != "" && unknown == nil {
		return nil
	}
	return usage(fmt.Sprintf("wfs note %s -m %q", id, cmp.Or(name, "what the next attempt should know")),
		"%s is a session, and the note is missing", id)
}

// takesNote refuses a note that no attempt would read.
func takesNote(s *session.Session, text string) error {
	if s.Status.Final() {
		return session.Refuse(session.RefuseFinal, "wfs show "+string(s.ID), "%s is %s: it would not be read", s.ID, s.Status)
	}
	if w := s.Waiting; s.Status == session.StatusWaiting && (w.Agree || w.Approve) { // a yes would drop it
		return usage(fmt.Sprintf(`wfs reject %s -m "what is still missing"`, s.ID),
			"%s waits for a yes or a no, and a note is neither", s.ID)
	}
	waiting := s.Notes
	if o := s.Open; o != nil {
		waiting = waiting[min(o.Told, len(waiting)):]
	}
	return fitsBrief(waiting, text)
}

// fitsBrief refuses a text that a brief would cut, or that would put notes out of it that nobody was told yet.
func fitsBrief(waiting []string, text string) error {
	what := "the text is longer than what a brief takes"
	switch {
	case brief.NotesFit(waiting, text):
		return nil
	case brief.NotesFit(nil, text):
		what = fmt.Sprintf("%d notes wait for the next attempt, and its brief does not take this one as well", len(waiting))
	}
	return usage("put it into a file of the repository and name that file", "%s", what)
}

// asked is what became of a request of a person's.
type asked struct {
	request string           // its id
	kept    error            // why it waits on, nil: it is an event already
	by      *registry.Holder // who takes it in, nil when the session has no run
	session *session.Session // as it is now
	next    []string
}

// request posts a request first, so that it is kept whatever happens, and then sees whether somebody has to take it in.
func (a *app) request(ctx context.Context, command string, v engine.View, request session.Request) (asked, error) {
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

// takeIn takes in what waits in a session's inbox, if nobody drives it; own is what was just asked for here. The error
// says why not; the requests wait on.
func (a *app) takeIn(ctx context.Context, command string, id session.ID, own string) (*session.Session, error) {
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
