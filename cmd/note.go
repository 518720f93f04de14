package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/phases/brief"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
)

type noteVerb struct {
	*app
	text string
	bare bool // the note was typed without -m
}

func (a *noteVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "note [SESSION] -m TEXT", Short: "message for the running or the next attempt, or answer to a question",
		Long: `Note leaves a message for the next attempt: it stands in its brief. If the session waits for an answer,
it is the answer.

You can leave one at any time. During a run, an agent that reads messages while it works (claude) gets it at its
next step; otherwise the next attempt gets it. The command says which. To start that one sooner: wfs stop, then
wfs run. wfs cannot know during a run whether you or the agent typed the note: the agent learns that it may not
be from a person, no reviewer sees it, and it answers no question.

The note is on disk when the command returns, and up to twelve can wait. If the running attempt ends before its
agent has read the note, fails, or is not judged, the next attempt has it. Completed work is taken up again by
the next wfs run, with the note. Without -m the first argument is the text.`,
		Example: `  wfs note "dates are ISO 8601"
  wfs note csv-export -m "use the standard library"
  wfs run --note "…"                     the same, and continue`,
		Args: func(c *cobra.Command, args []string) error {
			if a.bare = !c.Flags().Changed("message"); a.bare && len(args) > 0 {
				a.text, args = args[0], args[1:]
			}
			if strings.TrimSpace(a.text) == "" {
				return usage(c.CommandPath()+` -m "what the next attempt should know"`, "a note needs a text")
			}
			return upTo(1)(c, args)
		},
		RunE: with(a.run),
	}
	c.Flags().StringVarP(&a.text, "message", "m", "", "the note")
	return c
}

func (a *noteVerb) run(ctx context.Context, args []string) error {
	if a.bare {
		args = args[1:]
	}
	text, name := a.text, first(args)
	if err := a.OpenWriter(ctx); err != nil {
		return err
	}
	if a.bare {
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
	pending, err := a.Clone.Session(id).Inbox().Requests()
	if err != nil {
		return err
	}
	if err := takesNote(&v.Session, pending, text); err != nil {
		return err
	}
	k, err := inbox{a.app}.request(ctx, "wfs note", v, session.Request{Kind: session.RequestNote, Text: a.Redact(text)})
	if err != nil {
		return err
	}
	return a.say(id, k)
}

// say prints which run will read the note, and when.
func (a *noteVerb) say(id session.ID, k asked) error {
	j := requestJSON{Version: jsonVersion, Session: id, Request: k.request, Taken: k.kept == nil,
		For: "next", Status: k.session.Status, Next: k.next}
	if k.listens {
		j.For = "running"
	}
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
	case k.listens:
		a.out("noted for the running attempt: " +
			"its agent reads it at its next step, as one that may not be from a person")
		a.out("if the attempt ends before that, the next one has it")
	case k.by != nil:
		a.out("noted for the next attempt; %s takes it in after its present step, as one that may not be from a person",
			k.by.Command)
	default:
		a.out("noted for the next attempt; "+
			"the next wfs run takes it in, as one that may not be from a person (not now: %s)", k.kept)
	}
	a.next(j.Next)
	return nil
}

// noteMissing returns an error if the text of the note is the name of a session. The user has then forgotten the note,
// or typed it in the wrong place.
func (a *noteVerb) noteMissing(ctx context.Context, text, name string) error {
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

// takesNote returns an error if no attempt would read the note. `pending` are the requests that the session has not got
// yet.
func takesNote(s *session.Session, pending []session.Request, text string) error {
	if s.Status.Final() {
		return session.Refuse(session.RefuseFinal, "wfs show "+string(s.ID), "%s is %s: it would not be read", s.ID, s.Status)
	}
	if w := s.Waiting; s.Status == session.StatusWaiting && (w.Agree || w.Approve) { // an approval would drop the note
		return usage(fmt.Sprintf(`wfs reject %s -m "what is still missing"`, s.ID),
			"%s waits for a yes or a no, and a note is neither", s.ID)
	}
	waiting, meanwhile := s.Notes, s.Meanwhile
	if o := s.Open; o != nil {
		waiting, meanwhile = waiting[min(o.Told, len(waiting)):], meanwhile[min(o.Meanwhile, len(meanwhile)):]
	}
	waiting = slices.Concat(waiting, meanwhile)
	for _, r := range pending {
		if r.Kind == session.RequestNote {
			waiting = append(waiting, r.Text)
		}
	}
	return fitsBrief(waiting, text)
}

// fitsBrief returns an error if the text is too long for a brief (the agent's prompt), or if the brief has no room for
// it besides the unread notes `waiting`.
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
