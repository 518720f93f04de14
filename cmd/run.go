package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/present/live"
	"github.com/wfs-dev/wfs/cmd/internal/present/ways"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
	"github.com/wfs-dev/wfs/workspace/onevent"
)

type runVerb struct {
	*app
	o                     engine.RunOptions
	dry, detach, detached bool // detached: this is the background process
	cutOff                bool // the run before this one was interrupted
	tells                 verbosity
}

func (a *runVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "run [SESSION]", Short: "run the agent until it is done or needs you",
		Long: `Run continues a session from where it stands: it starts the agent for the current phase, runs the gates
on what it left, commits a checkpoint, and continues, lap by lap. It stops when the work is done, when you have
to decide (exit 3), when something is blocked (exit 4), or with --no-wait at a rate limit (exit 75).

Ctrl-C stops the agent and makes a checkpoint of what is there; a second Ctrl-C kills it. If the gates are
running, the next wfs run judges the attempt first. Closing the terminal does what Ctrl-C does.

On a terminal the last lines show the session, what the agent is doing, and the cost. Elsewhere, with TERM=dumb
or with ACCESSIBLE=1, there are plain lines. --verbose prints everything that the agent says and does, --quiet a
line for each attempt.

With --detach the run continues in the background, also when the terminal is closed: wfs watch shows it, wfs
stop stops it, wfs note leaves a message for the next attempt.`,
		Example: `  wfs run
  wfs run --max-attempts 1
  wfs run --until PLAN                   then read the plan
  wfs run --note "the date format must be ISO 8601"
  wfs run --reset-breaker                try again as before
  wfs run --now                          do not wait for a limit any longer
  wfs run --detach                       and go home; in the morning: wfs
  wfs run --quiet                        a line for each attempt
  wfs run --json | jq -r .type`,
		Args: upTo(1),
		RunE: with(a.run),
	}
	f := c.Flags()
	f.IntVar(&a.o.MaxAttempts, "max-attempts", 0, "stop after this many attempts (0: no limit)")
	untilFlag(f, &a.o.Until)
	f.StringVar(&a.o.Note, "note", "", "`text` for the next attempt, or the answer to a question")
	f.BoolVar(&a.o.ResetBreaker, "reset-breaker", false, "let a blocked phase try again as before")
	f.BoolVar(&a.o.Agree, "agree", false, "")
	_ = f.MarkHidden("agree") // replaced by wfs approve
	f.BoolVar(&a.o.Auto, "auto", false, "accept by itself that nothing is left to do")
	f.BoolVar(&a.o.IgnoreSurvivors, "ignore-survivors", false,
		"continue although processes of the last run are alive (build daemons)")
	f.BoolVar(&a.o.NoWait, "no-wait", false, "exit 75 instead of waiting for a limit")
	f.BoolVar(&a.o.Now, "now", false, "do not wait for a limit: try at once")
	f.BoolVar(&a.detach, "detach", false, "run in the background, also when the terminal is closed")
	f.BoolVar(&a.detached, "detached", false, "this is the run in the background")
	_ = f.MarkHidden("detached")
	a.tells.flags(f)
	f.BoolVar(&a.dry, "dry-run", false, "only print what would run")
	return c
}

// untilFlag adds the flag that wfs run and wfs start share.
func untilFlag(f *pflag.FlagSet, until *session.PhaseName) {
	f.StringVar((*string)(until), "until", "", "stop when this `phase` has passed")
}

func (a *runVerb) run(ctx context.Context, args []string) error {
	name := first(args)
	if a.o.MaxAttempts < 0 {
		return usage("", "--max-attempts must not be negative")
	}
	if err := fitsBrief(nil, a.o.Note); err != nil {
		return err
	}
	much, err := a.tells.how()
	if err != nil {
		return err
	}
	switch {
	case a.dry:
		return a.dryRun(ctx, name)
	case a.o.Now && !a.detached:
		if woken, err := (inbox{a.app}).wake(ctx, name, a.o); woken || err != nil {
			return err
		}
	}
	if a.detach {
		return background{a.app}.run(ctx, name, a.o)
	}
	return a.attend(ctx, name, much)
}

// attend runs a session in this process, until the run ends.
func (a *runVerb) attend(ctx context.Context, name string, much live.How) error {
	command := "wfs run"
	if a.detached {
		command = "wfs run --detach"
	}
	p := &live.Progress{Screen: &a.env.Screen, Much: much}
	var id session.ID
	h, err := a.InHand(ctx, workspace.Request{Command: command, Session: name, Trusted: true,
		Locked: func(held session.ID) {
			id = held
			a.connect(ctx, p)
		}})
	if id == "" {
		return a.unfinished(ctx, name, err)
	}
	if err == nil {
		err = a.drive(ctx, h, p)
	}
	// A usage error means that no run has begun, and the user sees the error: do not record it as the end of a run.
	if err != nil && !a.detached && a.diagnose(err).Exit == exitUsage {
		return err
	}
	end := a.howEnded(err)
	if v, e := a.View(context.WithoutCancel(ctx), id); e == nil {
		end.Seq = v.Session.Seq
	}
	if e := a.Clone.Session(id).KeepEnded(end); e != nil { // the run itself has not failed
		a.note("warning: how the run ended could not be kept: %v", e)
	}
	return err
}

// connect makes a run print its progress, save the work tree regularly, and call the user's on-event command.
func (a *runVerb) connect(ctx context.Context, p *live.Progress) {
	a.notices = &notices{app: a.app, to: onevent.New(a.Workspace, p.Tell, func() {
		if a.env.StderrTTY {
			fmt.Fprint(a.env.Stderr, "\a")
		}
	})}
	a.Engine.Tell = func(e session.Event, s *session.Session) {
		p.Event(e, s)
		if e.Kind() == session.KindDriving && a.cutOff {
			a.sayInterrupted(s)
		}
		a.notices.event(e, s)
	}
	a.Engine.Saving = a.saves.Saving(ctx, p.Tell)
	if !a.detached { // a detached run's agent writes to the log of the run
		a.Engine.Works.(*works).report, a.Engine.Works.(*works).watch = p.Report, p.Agent
	}
}

func (a *runVerb) drive(ctx context.Context, h *engine.Hand, p *live.Progress) error {
	if err := a.mustHaveAgent(ctx, &h.S, h.Plan); err != nil {
		return err
	}
	p.Plan = h.Plan
	a.cutOff = outlived(&h.S)
	a.WaitLong(ctx, p.Tell)
	a.sayDrift(ctx, &h.S, h.Plan)
	readiness{app: a.app, s: &h.S, plan: h.Plan, in: a.Here()}.sayLacking(ctx)
	if !a.detached { // a detached run's output is stored in the repository
		a.sayHoldoutDrift(ctx, h.S.ID, h.Plan)
		if p.Much != live.Quiet {
			if p.View = live.ShowRun(&a.env.Screen, "Ctrl-C stops it, and keeps what is there"); p.View == nil && !a.json {
				var end func()
				p.Does, end = live.ShowDoing(&a.env.Screen)
				defer end()
			}
		}
	}
	if p.View != nil {
		defer p.View.End()
		p.View.Stands(&h.S, h.Plan)
	}
	if to := a.env.Stderr; !a.json && !a.detached {
		a.signals.atFirst(func() { fmt.Fprintln(to, "stopping; Ctrl-C again to kill") })
	}
	if err := h.Run(ctx, a.o); err != nil {
		if ctx.Err() == nil { // else the user has just typed Ctrl-C
			a.notices.failed(&h.S, err)
		}
		return err
	}
	a.notices.to.Quiet.Store(a.json) // with --json the line "end" must be the last one
	if p.View != nil {
		p.View.End()
	}
	return ending{a.app}.of(ctx, h)
}

// sayInterrupted prints with which files a run continues after an interruption, and how to go back instead. It is
// called when the run begins: only then have processes of the interrupted run ended, and their files are kept.
func (a *runVerb) sayInterrupted(s *session.Session) {
	if s.At(s.Current).Trigger == session.TriggerInterrupted {
		a.note("continuing after an interruption with the files as they were, kept as @%d; to go back instead, also later: %s",
			s.Current, a.typedFor(fmt.Sprintf("wfs resume @%d", ways.BeforeInterruption(s)), s.ID, ""))
	}
}

// howEnded returns the record of how a run ended. wfs watch and wfs status print it later.
func (a *runVerb) howEnded(err error) registry.Ended {
	e := registry.Ended{Driver: a.Engine.Driver, At: a.env.Now().Unix()}
	var quiet *quietExit
	if errors.As(err, &quiet) {
		e.Exit = quiet.code
	} else if err != nil {
		f := a.diagnose(err)
		e.Exit, e.Error, e.Hint = f.Exit, f.Error, f.Hint
	}
	return e
}

// unfinished is for an error err that comes before a run. If err says that a merge or rebase is in progress, unfinished
// returns instead the refusal that wfs uses for conflicts in a session. It returns err unchanged if it is another
// error, or if there is no session to run.
func (a *runVerb) unfinished(ctx context.Context, name string, err error) error {
	var not *gitcmd.ReadyError
	if !errors.As(err, &not) || not.Code != gitcmd.NotDone && not.Code != gitcmd.NotMerged {
		return err
	}
	if _, e := a.Resolve(ctx, name); e != nil { // no session, so it is not the session that has a conflict
		return err
	}
	if not.Code == gitcmd.NotDone {
		return checkpoint.Unfinished(not.Detail)
	}
	return session.Refuse(session.RefuseConflict, a.diagnose(err).Hint, "%v", not)
}

// ending prints the state in which a run has left its session.
type ending struct{ *app }

// of prints the session's state after a run. It returns an error with the run's exit code.
func (a ending) of(ctx context.Context, h *engine.Hand) error {
	code := statusCode(&h.S)
	if ctx.Err() != nil {
		code = a.signals.exitCode()
	}
	return a.say(ctx, a.describeOwn(&h.S), code)
}

// say prints the session's state and the next commands. It returns an error with the exit code `code`.
func (a ending) say(ctx context.Context, d present.Session, code int) error {
	d.Driver = nil
	v, err := a.View(ctx, d.ID)
	if err == nil {
		ledger := addJudged(ctx, a.Workspace, &v)
		if s := d.Of; s.Last == nil && s.Current == v.Session.Current {
			s.LastGates, s.NotRun, s.Last = v.Session.LastGates, v.Session.NotRun, v.Session.Last
		}
		addTests(ctx, a.Workspace, &d, ledger)
	}
	if a.json {
		if err := a.answer(present.Stream{Version: jsonVersion, Type: "end", Session: &d, Exit: &code}); err != nil {
			return err
		}
		return exitWith(code)
	}
	if err == nil {
		d.Cost = costOf(ctx, a.Workspace, &v)
	}
	a.note("")
	a.env.Standing(&d, string(d.ID)+"  ")
	for _, p := range d.Alive {
		a.out("    alive: %s", decide.Named([]session.Process{p}))
	}
	a.sayIgnoredBefore(ctx, d.Of)
	a.env.On(&d)
	return exitWith(code)
}

// statusCode returns the exit code of a run that has left its session in the state s.
func statusCode(s *session.Session) int {
	switch s.Status {
	case session.StatusBlocked:
		return exitBlocked
	case session.StatusWaiting:
		if s.Waiting.Reason == session.WaitLimit {
			return exitWaiting
		}
		return exitDecision
	case session.StatusInterrupted:
		return exitInterrupted
	}
	return exitOK
}
