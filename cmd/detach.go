package cmd

import (
	"context"
	"fmt"
	"strconv"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

type detachJSON struct {
	Version int        `json:"version"`
	Session session.ID `json:"session"`
	PID     int        `json:"pid"`
	Log     string     `json:"log"`
	Next    []string   `json:"next"`
}

// background starts runs of sessions in the background.
type background struct{ *app }

// run starts a run of a session in the background. Before that, it checks whether the run can start, because here the
// user sees the errors.
func (a background) run(ctx context.Context, name string, o engine.RunOptions) error {
	if err := a.EnterNamed(ctx, name); err != nil {
		return err
	}
	if err := a.Ready(ctx, true); err != nil {
		return (&runVerb{app: a.app}).unfinished(ctx, name, err)
	}
	id, err := a.Workable(ctx, name)
	if err != nil {
		return err
	}
	d, err := a.Detach(ctx, id, append([]string{a.env.Exe, "run", string(id), "--detached"}, runFlags(o)...))
	switch {
	case err != nil:
		return err
	case d.Driving:
		return a.sayDetached(id, d.PID, d.Log)
	}
	return a.tellLog(ctx, id, d.Log, d.Exit)
}

func (a background) sayDetached(id session.ID, pid int, log string) error {
	next := []string{"wfs watch " + string(id), "wfs note " + string(id) + " -m TEXT", "wfs stop " + string(id)}
	if a.json {
		return a.answer(detachJSON{jsonVersion, id, pid, log, next})
	}
	a.out("%s runs in the background (pid %d)", id, pid)
	a.out("log: %s", log)
	a.next(next)
	return nil
}

// maxTold is how many bytes of a log wfs prints at most.
const maxTold = 1 << 20

// tellLog prints the log of a background run that ended before this process saw it running. It returns an error with
// the run's exit code.
func (a background) tellLog(ctx context.Context, id session.ID, path string, code int) error {
	text, err := durable.ReadFile(path, maxTold)
	if err != nil {
		return err
	}
	if !a.json {
		fmt.Fprint(a.env.Stderr, safetext.Strip(string(text)))
		return exitWith(code)
	}
	if code != exitError && code != exitUsage && code != exitHeld {
		v, err := a.View(ctx, id)
		if err != nil {
			return err
		}
		d, _, err := a.seen(ctx, &v.Session)
		if err != nil {
			return err
		}
		return ending(a).say(ctx, d, code)
	}
	return &ranError{safetext.Line(string(text), 0), code}
}

// ranError is the error of a background run that failed, with the run's exit code.
type ranError struct {
	said string
	exit int
}

func (e *ranError) Error() string { return e.said }

// runFlags turns run options back into flags, for the command line of the background process.
func runFlags(o engine.RunOptions) []string {
	var list []string
	if o.MaxAttempts > 0 {
		list = append(list, "--max-attempts="+strconv.Itoa(o.MaxAttempts))
	}
	if o.Until != "" {
		list = append(list, "--until="+string(o.Until))
	}
	if o.Note != "" {
		list = append(list, "--note="+o.Note)
	}
	for name, on := range map[string]bool{"--reset-breaker": o.ResetBreaker, "--agree": o.Agree, "--auto": o.Auto,
		"--no-wait": o.NoWait, "--now": o.Now, "--ignore-survivors": o.IgnoreSurvivors} {
		if on {
			list = append(list, name)
		}
	}
	return list
}
