package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/present/live"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

type watchVerb struct {
	*app
	tells verbosity
	wait  bool // wait for the next run
	all   bool // all sessions
}

func (a *watchVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "watch [SESSION]", Short: "a board of all sessions, or the run of one until it ends",
		Long: `Without a session, watch shows a board of all sessions at a terminal: what each of them does, and what it
waits for. Enter watches the run of the selected one, other keys approve, reject, stop and so on; ? names them. Where no
board can be drawn (in a pipe, with --json, TERM=dumb or ACCESSIBLE=1), watch without a session means the current
session. With --all, or if no session is current, it prints one line for each session, and a line whenever one
changes, until no run is in progress.

With a session, watch shows the run in progress as its own terminal does, until it ends, and exits with the exit
code of that run. Ctrl-C stops watching; the run continues. Without a run in progress it prints where the session
stands and what to type next, and exits 0; with --wait it waits for the next run. --json prints the same stream
as wfs run --json. --wait, --quiet and --verbose without a session are about the current one, too.

It writes nothing and takes no lock.`,
		Example: "  wfs watch\n  wfs run --detach && wfs watch csv-export\n  wfs watch csv-export --wait\n" +
			"  wfs watch csv-export --json | jq -r .kind\n  wfs watch --all --json",
		Args: upTo(1),
		RunE: with(a.run),
	}
	a.tells.flags(c.Flags())
	c.Flags().BoolVar(&a.wait, "wait", false, "wait for a run to start; with --all: do not end")
	c.Flags().BoolVar(&a.all, "all", false, "all sessions of the repository")
	return c
}

func (a *watchVerb) run(ctx context.Context, args []string) error {
	much, err := a.tells.how()
	if err != nil {
		return err
	}
	if a.all && (len(args) > 0 || much != live.Ordinary) {
		return usage("wfs watch --help", "--all goes without a session, --quiet and --verbose")
	}
	if len(args) == 0 {
		if done, err := a.watchAll(ctx, much); done || err != nil {
			return err
		}
	}
	id, err := a.OpenNamed(ctx, first(args))
	if err != nil {
		return err
	}
	p := &live.Progress{Screen: &a.env.Screen, Much: much}
	w, err := follow(ctx, a.Workspace, id, p)
	if err != nil {
		return err
	}
	who, held, err := a.Driver(ctx, id)
	running := err == nil && held && workspace.IsRun(who)
	if err == nil && !running {
		a.note("no run in progress for %s", id)
		if !a.wait {
			return a.sayEnded(ctx, id, "", false)
		}
		if who, running, err = w.untilRun(ctx); err == nil && !running { // the run ended before it was seen
			return a.sayEnded(ctx, id, "", true)
		}
	}
	if err == nil {
		err = a.watchRun(ctx, w, who)
	}
	if errors.Is(err, context.Canceled) {
		if running {
			a.note("the run continues")
			a.note("next: wfs watch %s   or: wfs stop %s", id, id)
		}
		return exitWith(a.signals.exitCode())
	}
	if err != nil {
		return err
	}
	return a.sayEnded(ctx, id, who.Name(), true)
}

// watchRun shows a run of another process until the run ends.
func (a *watchVerb) watchRun(ctx context.Context, w *following, who registry.Holder) error {
	a.note("watching `%s` (pid %d), started %s: %s", who.Command, who.PID, present.Ago(unix(who.Since), a.env.Now()),
		present.Stands(&w.S))
	if w.p.Much != live.Quiet {
		w.p.View = live.ShowRun(&a.env.Screen, "Ctrl-C stops watching; the run continues")
	}
	if w.p.View != nil {
		defer w.p.View.End()
		w.catchUp(ctx, unix(who.Since))
	}
	return w.untilEnd(ctx, who)
}

// sayEnded prints the state of a session after a run of another process. `driver` names the process of the run; ""
// means the newest run. If the run was `watched`, sayEnded returns an error with the run's exit code.
func (a *watchVerb) sayEnded(ctx context.Context, id session.ID, driver string, watched bool) error {
	v, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	s := &v.Session
	end, found := a.Clone.Session(id).Ended(driver)
	code := exitOK
	if watched {
		code = end.Exit
		if !found {
			code = statusCode(s)
		}
	}
	if !a.json && found && end.Error != "" && (watched || s.Status == session.StatusInterrupted) {
		a.env.Fail(end.Error, end.Hint)
	}
	d, _, err := a.seen(ctx, s)
	if err != nil {
		return err
	}
	return ending{a.app}.say(ctx, d, code)
}
