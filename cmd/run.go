package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/present/live"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

func (a *app) runCmd() *cobra.Command {
	var o engine.RunOptions
	var dry, detach, detached bool
	var tells verbosity
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
  wfs run --note "the date format must be ISO 8601"
  wfs run --reset-breaker                try again as before
  wfs run --now                          do not wait for a limit any longer
  wfs run --detach                       and go home; in the morning: wfs
  wfs run --quiet                        a line for each attempt
  wfs run --json | jq -r .type`,
		Args: upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if o.MaxAttempts < 0 {
				return usage("", "--max-attempts must not be negative")
			}
			if err := fitsBrief(nil, o.Note); err != nil {
				return err
			}
			much, err := tells.how()
			if err != nil {
				return err
			}
			switch {
			case dry:
				return a.dryRun(ctx, first(args))
			case o.Now && !detached:
				if woken, err := a.wake(ctx, first(args), o); woken || err != nil {
					return err
				}
			}
			if detach {
				return a.detach(ctx, first(args), o)
			}
			return a.run(ctx, first(args), o, much, detached)
		},
	}
	f := c.Flags()
	f.IntVar(&o.MaxAttempts, "max-attempts", 0, "stop after this many attempts (0: no limit)")
	f.StringVar(&o.Note, "note", "", "`text` for the next attempt, or the answer to a question")
	f.BoolVar(&o.ResetBreaker, "reset-breaker", false, "let a blocked phase try again as before")
	f.BoolVar(&o.Agree, "agree", false, "")
	_ = f.MarkHidden("agree") // wfs approve
	f.BoolVar(&o.Auto, "auto", false, "accept by itself that nothing is left to do")
	f.BoolVar(&o.IgnoreSurvivors, "ignore-survivors", false,
		"continue although processes of the last run are alive (build daemons)")
	f.BoolVar(&o.NoWait, "no-wait", false, "exit 75 instead of waiting for a limit")
	f.BoolVar(&o.Now, "now", false, "do not wait for a limit: try at once")
	f.BoolVar(&detach, "detach", false, "run in the background, also when the terminal is closed")
	f.BoolVar(&detached, "detached", false, "this is the run in the background")
	_ = f.MarkHidden("detached")
	tells.flags(f)
	f.BoolVar(&dry, "dry-run", false, "only print what would run")
	return c
}

func (a *app) run(ctx context.Context, name string, o engine.RunOptions, much live.How, detached bool) error {
	command := "wfs run"
	if detached {
		command = "wfs run --detach"
	}
	p := a.progress(much)
	var id session.ID
	h, err := a.InHand(ctx, workspace.Request{Command: command, Session: name, Trusted: true,
		Locked: func(held session.ID) {
			id = held
			a.connect(ctx, p, detached)
		}})
	if id == "" {
		return a.unfinished(ctx, name, err)
	}
	if err == nil {
		err = a.drive(ctx, h, p, o, detached)
	}
	// the person who typed it is told, and nothing was driven
	if err != nil && !detached && a.diagnose(err).Exit == exitUsage {
		return err
	}
	end := a.howEnded(err)
	if v, e := a.View(context.WithoutCancel(ctx), id); e == nil {
		end.Seq = v.Session.Seq
	}
	if e := a.Clone.Session(id).KeepEnded(end); e != nil { // for those who watch; the run itself is not in question
		a.note("warning: how the run ended could not be kept: %v", e)
	}
	return err
}

// connect lets a run show what happens, save files, and tell the user's on-event command.
func (a *app) connect(ctx context.Context, p *live.Progress, detached bool) {
	a.notices = &notices{app: a, to: a.NewOnEvent(p.Tell, func() {
		if a.env.StderrTTY {
			fmt.Fprint(a.env.Stderr, "\a")
		}
	})}
	a.Engine.Tell = func(e session.Event, s *session.Session) {
		p.Event(e, s)
		a.notices.event(e, s)
	}
	a.Engine.Saving = a.Saving(ctx, p.Tell)
	if !detached { // what the agent does is in the log of its run
		a.Engine.Works.(*works).report, a.Engine.Works.(*works).watch = p.Report, p.Agent
	}
}

func (a *app) drive(ctx context.Context, h *engine.Hand, p *live.Progress, o engine.RunOptions, detached bool) error {
	if err := a.mustHaveAgent(ctx, &h.S, h.Plan); err != nil {
		return err
	}
	p.Plan = h.Plan
	a.WaitLong(ctx, p.Tell)
	a.sayDrift(ctx, &h.S, h.Plan)
	if !detached { // what it prints then is kept in the repository
		a.sayHoldoutDrift(ctx, h.S.ID, h.Plan)
	}
	if p.Much != live.Quiet && !detached {
		p.View = live.ShowRun(&a.env.Screen, "Ctrl-C stops it, and keeps what is there")
	}
	if p.View != nil {
		defer p.View.End()
		p.View.Stands(&h.S, h.Plan)
	}
	if to := a.env.Stderr; !a.json && !detached {
		a.signals.atFirst(func() { fmt.Fprintln(to, "stopping; Ctrl-C again to kill") })
	}
	if err := h.Run(ctx, o); err != nil {
		if ctx.Err() == nil { // or the person is there and has just typed Ctrl-C
			a.notices.failed(&h.S, err)
		}
		return err
	}
	a.notices.to.Quiet.Store(a.json) // the end stays the last line in JSON
	if p.View != nil {
		p.View.End()
	}
	return a.ended(ctx, h)
}

// howEnded is what is kept of a run's end.
func (a *app) howEnded(err error) registry.Ended {
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

// unfinished turns a merge or rebase in progress into the conflict that it is for a session that is to be driven.
func (a *app) unfinished(ctx context.Context, name string, err error) error {
	var not *gitcmd.ReadyError
	if !errors.As(err, &not) || not.Code != gitcmd.NotDone && not.Code != gitcmd.NotMerged {
		return err
	}
	if _, e := a.Resolve(ctx, name); e != nil { // nothing to drive: then it is only a repository that is not ready
		return err
	}
	if not.Code == gitcmd.NotDone {
		return engine.Unfinished(not.Detail)
	}
	return session.Refuse(session.RefuseConflict, a.diagnose(err).Hint, "%v", not)
}

// ended says how a run ended, and gives the exit code.
func (a *app) ended(ctx context.Context, h *engine.Hand) error {
	code := statusCode(&h.S)
	if ctx.Err() != nil {
		code = a.signals.exitCode()
	}
	return a.sayEnd(ctx, a.describeOwn(&h.S), code)
}

// sayEnd says how a run has left its session, and what to type next.
func (a *app) sayEnd(ctx context.Context, d present.Session, code int) error {
	d.Driver = nil
	if a.json {
		if err := a.answer(present.Stream{Version: jsonVersion, Type: "end", Session: &d, Exit: &code}); err != nil {
			return err
		}
		return exitWith(code)
	}
	if v, err := a.View(ctx, d.ID); err == nil {
		d.Cost = a.costOf(ctx, &v)
	}
	a.note("")
	a.env.Standing(&d, string(d.ID)+"  ", false)
	for _, p := range d.Alive {
		a.out("    alive: %s", engine.Named([]session.Process{p}))
	}
	a.sayIgnoredBefore(ctx, d.Of)
	a.env.On(&d)
	return exitWith(code)
}

// statusCode is the exit code of a run that left its session so.
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

// gateText says what a gate asks for.
func gateText(g workflows.Gate) string {
	switch {
	case g.Document != "" && len(g.Needs) > 0:
		return fmt.Sprintf("%s: the document %s, with %s", g.Name, g.Document, strings.Join(texts(g.Needs), ", "))
	case g.Document != "":
		return fmt.Sprintf("%s: the document %s", g.Name, g.Document)
	case len(g.Changes) > 0:
		return fmt.Sprintf("%s: a change of %s", g.Name, strings.Join(g.Changes, ", "))
	}
	return fmt.Sprintf("%s (expect %s): %s", g.Name, g.Expect, g.Run.Text())
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = string(x)
	}
	return out
}

func commandOf(p *workflows.Plan, phase session.PhaseName) string {
	ph := p.Workflow.Phase(phase)
	if ph == nil {
		return ""
	}
	if ph.Run.Human {
		return "nothing: a person works there, and approves or rejects"
	}
	if !ph.Run.Agent {
		return ph.Run.Command.Text()
	}
	return workspace.AgentName(p.AgentOf(ph))
}

func gatesOf(p *workflows.Plan, phase session.PhaseName) []string {
	list := []string{}
	if ph := p.Workflow.Phase(phase); ph != nil {
		for _, g := range ph.Gates {
			list = append(list, gateText(g))
		}
	}
	return list
}
