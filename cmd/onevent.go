package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// The events that `on-event` is run for.
const (
	onBlocked   = "blocked"
	onWaiting   = "waiting"
	onPerson    = "needs_person"
	onCompleted = "completed"
	onFailed    = "failed" // the run itself ended with an error
	onBudget    = "budget" // nearly used up
)

// noticeTime bounds one run of the on-event command. Whoever waits for the end of wfs waits no longer than that.
const noticeTime = 10 * time.Second

// noticeJSON is what the on-event command gets on its standard input.
type noticeJSON struct {
	Version int         `json:"version"`
	Event   string      `json:"event"`
	Summary string      `json:"summary"`
	Session sessionJSON `json:"session"`
}

// notices runs the on-event command beside a run. Nothing that becomes of it touches the run.
type notices struct {
	app     *app
	say     func(string)
	driven  bool        // nobody has to be told of a run that never began: whoever typed it is there
	over    atomic.Bool // the run has said its last word, which stays the last one in JSON
	running sync.WaitGroup
	trouble sync.Once
}

// event looks at an event of the run and at the session as it is with it.
func (n *notices) event(e session.Event, s *session.Session) {
	switch b := e.Body.(type) {
	case session.Driving:
		n.driven = true
	case session.BlockedBy:
		n.tell(onBlocked, s, "")
	case session.Waiting:
		if b.Reason == session.WaitLimit {
			n.tell(onWaiting, s, "")
		} else {
			n.tell(onPerson, s, "")
		}
	case session.BudgetWarned:
		n.tell(onBudget, s, budgetText(b.BudgetLine))
	case session.Agreed, session.Checkpointed:
		if s.Status == session.StatusCompleted {
			n.tell(onCompleted, s, "")
		}
	}
}

// failed tells of a run that ended with an error.
func (n *notices) failed(s *session.Session, err error) {
	if n.driven {
		n.tell(onFailed, s, err.Error())
	}
}

// tell starts the command and does not wait for it.
func (n *notices) tell(event string, s *session.Session, what string) {
	a := n.app
	command, env, err := a.onEvent(context.Background())
	if err != nil {
		n.warn(err)
	}
	if command.IsZero() {
		return
	}
	d := a.describe(s, a.Here())
	d.Driver, d.Next = nil, a.nextFor(s)
	j := noticeJSON{jsonVersion, event, summaryOf(s, event, what, a.env.Now()), d}
	input, err := json.Marshal(j)
	if err != nil {
		n.warn(err)
		return
	}
	argv := command.Argv
	if command.Shell != "" {
		argv = []string{"sh", "-c", command.Shell}
	}
	c := proc.Cmd{Argv: argv, Dir: a.Repo.Root(), Stdin: bytes.NewReader(append(input, '\n')),
		Env: append(noticeEnv(a.env.Environ, env), "WFS_EVENT="+event, "WFS_SESSION="+string(s.ID), "WFS_STATUS="+string(s.Status), "WFS_SUMMARY="+j.Summary)}
	n.running.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), noticeTime)
		defer cancel()
		out, said := &lastBytes{}, &lastBytes{}
		exit, err := proc.Stream(ctx, c, out, said)
		if bytes.ContainsRune(out.data, '\a') && a.env.StderrTTY { // it has no terminal of its own to ring at
			fmt.Fprint(a.env.Stderr, "\a")
		}
		switch {
		case err != nil:
			n.warn(err)
		case exit != 0:
			n.warn(fmt.Errorf("exit %d: %s", exit, safetext.Line(string(said.data), 200)))
		}
	})
}

// warn says once what was wrong: a command that fails each time is one piece of news.
func (n *notices) warn(err error) {
	n.trouble.Do(func() {
		if !n.app.json || !n.over.Load() {
			n.say("warning: on-event: " + err.Error())
		}
	})
}

// wait gives commands that still run the time that they have.
func (n *notices) wait() {
	if n != nil {
		n.running.Wait()
	}
}

// onEvent reads the command from the files as they are now: it is about the person who waits, not about the work. While
// what is below .wfs/ is not trusted, or cannot be read, only the person's own file counts.
func (a *app) onEvent(ctx context.Context) (workflows.Command, []string, error) {
	all, err := a.trustedSettings(ctx)
	if err == nil {
		return all.Config.OnEvent, all.Config.Env, nil
	}
	own, e := a.Settings(nil)
	if e != nil {
		return workflows.Command{}, nil, e
	}
	if !own.Config.OnEvent.IsZero() {
		err = nil
	}
	return own.Config.OnEvent, own.Config.Env, err
}

// trustedSettings are the settings of all layers, unless one names an on-event command that nobody here has looked at.
func (a *app) trustedSettings(ctx context.Context) (*workflows.Settings, error) {
	list, err := a.Rules(ctx)
	if err != nil {
		return nil, err
	}
	s, err := a.Settings(list)
	if err != nil || s.Config.OnEvent.IsZero() {
		return s, err
	}
	return s, a.MustTrust(list)
}

// desktop are the variables by which a command finds the person's screen.
var desktop = []string{"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "TMUX", "STY"}

// noticeEnv is the environment of an on-event command.
func noticeEnv(environ, extra []string) []string {
	var env []string
	for _, entry := range phases.DefaultEnv(environ, append(desktop[:len(desktop):len(desktop)], extra...)) {
		if !strings.HasPrefix(entry, "WFS_") {
			env = append(env, entry)
		}
	}
	return env
}

// summaryOf says in one line what a person should know.
func summaryOf(s *session.Session, event, what string, now time.Time) string {
	parts := []string{string(s.ID) + " " + stands(s)}
	if what != "" {
		parts = []string{string(s.ID) + " " + event + ": " + what}
	}
	parts = append(parts, whyStopped(s, now)...)
	return safetext.Line(strings.ReplaceAll(strings.Join(parts, "; "), ":; ", ": "), 500)
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct{ data []byte }

func (l *lastBytes) Write(p []byte) (int, error) {
	const kept = 4 << 10
	l.data = append(l.data, p...)
	l.data = l.data[max(0, len(l.data)-kept):]
	return len(p), nil
}
