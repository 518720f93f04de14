package cmd

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace/onevent"
)

// noticeJSON is what the user's on-event command gets on its standard input.
type noticeJSON struct {
	Version int             `json:"version"`
	Event   string          `json:"event"`
	Summary string          `json:"summary"`
	Session present.Session `json:"session"`
}

// notices calls the on-event command: a command from the user's configuration that reports events of a run, for example
// by mail.
type notices struct {
	app    *app
	to     *onevent.Commands
	driven bool // the run has begun; the user sees earlier errors
}

// event calls the command if the event is one that users want to know. s is the session's state after the event.
func (n *notices) event(e session.Event, s *session.Session) {
	switch b := e.Body.(type) {
	case session.Driving:
		n.driven = true
	case session.BlockedBy:
		n.tell("blocked", s, "")
	case session.Waiting:
		if b.Reason == session.WaitLimit {
			n.tell("waiting", s, "")
		} else {
			n.tell("needs_person", s, "")
		}
	case session.BudgetWarned:
		n.tell("budget", s, present.Budget(b.BudgetLine))
	case session.Agreed, session.Checkpointed:
		if s.Status == session.StatusCompleted {
			n.tell("completed", s, "")
		}
	}
}

// failed calls the command for a run that ended with an error.
func (n *notices) failed(s *session.Session, err error) {
	if n.driven {
		n.tell("failed", s, err.Error())
	}
}

// wait waits until all started commands have ended, but not longer than their time limit.
func (n *notices) wait() {
	if n != nil {
		n.to.Wait()
	}
}

func (n *notices) tell(event string, s *session.Session, what string) {
	a := n.app
	n.to.Start(func() ([]byte, []string, error) {
		j := noticeJSON{jsonVersion, event, summaryOf(s, event, what, a.env.Now()), a.describeOwn(s)}
		input, err := json.Marshal(j)
		return input, []string{"WFS_EVENT=" + event, "WFS_SESSION=" + string(s.ID), "WFS_STATUS=" + string(s.Status),
			"WFS_SUMMARY=" + j.Summary}, err
	})
}

// summaryOf returns one line for the user: the session's state or, if `what` is not "", the event and `what`. The
// reason why the session has stopped follows.
func summaryOf(s *session.Session, event, what string, now time.Time) string {
	parts := []string{string(s.ID) + " " + present.Stands(s)}
	if what != "" {
		parts = []string{string(s.ID) + " " + event + ": " + what}
	}
	parts = append(parts, present.WhyStopped(s, now)...)
	return safetext.Line(strings.ReplaceAll(strings.Join(parts, "; "), ":; ", ": "), 500)
}
