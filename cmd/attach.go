package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
)

func (a *app) attachCmd() *cobra.Command {
	var tells verbosity
	c := &cobra.Command{
		Use: "attach [SESSION]", Short: "follow the run that drives a session, until it ends",
		Long: `Attach shows what the run that drives a session does, as its own terminal does or would, until it ends, and exits with
the run's own code; --quiet and --verbose are as for wfs run. Ctrl-C leaves the run alone: it goes on. When nobody drives the session, it says how the newest run
ended. It writes nothing and takes no lock.`,
		Example: "  wfs run --detach && wfs attach\n  wfs attach csv-export --json",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			much, err := tells.how()
			if err != nil {
				return err
			}
			return a.attach(c.Context(), first(args), much)
		},
	}
	tells.flags(c.Flags())
	return c
}

func (a *app) attach(ctx context.Context, name string, much how) error {
	id, err := a.openNamed(ctx, name)
	if err != nil {
		return err
	}
	who, held, err := a.driver(ctx, id)
	if err != nil {
		return err
	}
	if !held {
		a.note("nobody drives %s; this is how it stands", id)
		return a.sayEnded(ctx, id, "")
	}
	p := &progress{app: a, much: much}
	w, err := a.follow(ctx, id, p)
	if err != nil {
		return err
	}
	a.note("attached to `%s` (pid %d), begun %s: %s", who.Command, who.PID, ago(unix(who.Since), a.env.Now()), now(&w.S))
	if much != quiet {
		p.view = a.showView("Ctrl-C leaves it alone: it goes on")
	}
	if p.view != nil {
		defer p.view.end()
		w.catchUp(ctx, unix(who.Since))
	}
	err = w.untilEnd(ctx, who)
	if p.view != nil {
		p.view.end()
	}
	if errors.Is(err, context.Canceled) {
		a.note("left: the run goes on")
		a.note("next: wfs attach %s   or: wfs stop %s", id, id)
		return exitWith(a.signals.exitCode())
	}
	if err != nil {
		return err
	}
	return a.sayEnded(ctx, id, who.Name())
}

// now says what a session is at.
func now(s *session.Session) string {
	o := s.Open
	if o == nil {
		return stands(s)
	}
	head := fmt.Sprintf("%s  attempt %d", atLap(s, o.Phase, o.Lap), o.Attempt)
	if o.Run != nil {
		return head + ", being judged"
	}
	return head
}

// sayEnded says how a run ended that this process did not drive, and gives its exit code. driver is the name of the
// process that drove, "" for the newest.
func (a *app) sayEnded(ctx context.Context, id session.ID, driver string) error {
	v, err := a.view(ctx, id)
	if err != nil {
		return err
	}
	s := &v.Session
	end, found := a.clone.Ended(id, driver)
	code := statusCode(s)
	if found && (driver != "" || end.Error != "" && s.Status == session.StatusInterrupted) {
		code = end.Exit
	}
	if !a.json && found && end.Error != "" && code == end.Exit {
		failure{Error: end.Error, Hint: end.Hint}.print(a)
	}
	d, in, err := a.seen(ctx, s)
	if err != nil {
		return err
	}
	return a.sayEnd(ctx, s, in, d.Next, code)
}

func (a *app) watchCmd() *cobra.Command {
	return &cobra.Command{
		Use: "watch [SESSION]", Short: "follow a session from any terminal, until Ctrl-C",
		Long: `Watch shows what happens to a session from now on, whoever drives it, and across runs. It ends with Ctrl-C, which does
nothing to the session. With --json it prints the stream that wfs run --json prints, with an "end" for each run that ends.
It writes nothing and takes no lock.`,
		Example: "  wfs watch\n  wfs watch csv-export --json | jq -r .kind",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.watch(c.Context(), first(args))
		},
	}
}

func (a *app) watch(ctx context.Context, name string) error {
	id, err := a.openNamed(ctx, name)
	if err != nil {
		return err
	}
	w, err := a.follow(ctx, id, &progress{app: a, say: a.out})
	if err != nil {
		return err
	}
	if !a.json {
		a.out("%s  %s", id, w.S.Goal)
	}
	for said := a.json; ; { // said: how the session stands, since the last run
		who, held, err := a.clone.Driver(id)
		if err != nil {
			return err
		}
		if held && isRun(who) {
			if !a.json {
				a.out("driven by `%s` (pid %d): %s", who.Command, who.PID, now(&w.S))
			}
			w.drove, err = true, w.untilEnd(ctx, who)
		} else if err = w.look(ctx); err == nil && w.drove {
			if who, held, err := a.clone.Driver(id); err == nil && held && isRun(who) {
				w.drove = false
				continue // it has only just begun
			}
		}
		if err == nil && (!said || w.drove) { // a run has ended, maybe a short one that nobody saw driving
			err = a.sayWatched(ctx, id, w.drove)
			said, w.drove = true, false
		}
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookEvery):
		}
	}
}

// sayWatched says how a session stands between two runs.
func (a *app) sayWatched(ctx context.Context, id session.ID, ended bool) error {
	v, err := a.view(ctx, id)
	if err != nil {
		return err
	}
	s := &v.Session
	if a.json && ended {
		d, _, err := a.seen(ctx, s)
		if err != nil {
			return err
		}
		code := statusCode(s)
		if end, found := a.clone.Ended(id, ""); found {
			code = end.Exit
		}
		d.Driver = nil
		return a.answer(streamJSON{Version: jsonVersion, Type: "end", Session: &d, Exit: &code})
	}
	a.out("%s  %s", s.ID, stands(s))
	for _, line := range whyStopped(s, a.env.Now()) {
		a.out("  %s", line)
	}
	return nil
}
