package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/trial"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
	"github.com/wfs-dev/wfs/workspace/autosave"
	"github.com/wfs-dev/wfs/workspace/rooms"
	"github.com/wfs-dev/wfs/workspace/worktrees"
)

// app holds everything that belongs to one command line: its flags and streams, and the workspace in which it works.
// This file connects the packages of wfs.
type app struct {
	*workspace.Workspace
	hints
	prompter
	describer
	env     Env
	json    bool
	noPager bool
	pager   *pager // nil: no pager
	signals *signals

	notices *notices     // of a run; nil for other verbs
	rooms   *rooms.Rooms // clean checkouts in which gates run
	trees   *worktrees.Trees
	saves   *autosave.Saves
	done    []recoveredJSON // recovered operations that the next answer reports
}

func newApp(env Env, sig *signals) *app {
	a := &app{env: env, signals: sig}
	a.env.Color, a.env.Clock, a.env.Getenv, a.env.AtExit, a.env.Facts = "auto", a.env.Now, a.env.Get, sig.atExit, facts{a}
	a.Workspace = workspace.New(&a.env.Env,
		workspace.Front{Note: a.note, Engine: a.engine,
			Tidy:    func(ctx context.Context, command string) { a.trees.Sweep(ctx, command) },
			Opening: func() { a.rooms.ClearHoldouts() }})
	a.hints, a.describer = hints{a.Workspace, env.Args}, describer{a.Workspace, &a.hints}
	a.prompter = prompter{&a.env.Screen, sig.exitCode}
	a.saves = autosave.New(a.Workspace)
	a.rooms = rooms.New(a.Workspace, func() *agent.Runner { return a.Engine.Works.(*works).runner() })
	a.trees = &worktrees.Trees{Workspace: a.Workspace, Progress: a.showProgress, Runner: func() *agent.Runner {
		w := a.Engine.Works.(*works)
		w.setUp = true
		return w.runner()
	}}
	return a
}

// engine creates the engine for this command. The workspace calls it once it has opened the repository.
func (a *app) engine(base *hand.Base) *engine.Engine {
	e := engine.New(base, &works{app: a})
	e.Cut, e.Recovered, e.Version = a.signals.why, a.sayRecovered, Version
	e.Refused = func(r session.Request) {
		command := map[session.RequestKind]string{session.RequestAllow: "wfs allow",
			session.RequestBudget: "wfs edit"}[r.Kind]
		a.note("refused: a request that %s left in the inbox during a run; type it again", command)
	}
	return e
}

// sayAside warns the user if this command could not read an operation log.
func (a *app) sayAside() {
	if a.Repo != nil && a.Repo.SetAside() != "" {
		a.note("warning: %s", a.Repo.SetAside())
	}
}

// works runs attempts and gates in this work tree.
type works struct {
	app    *app
	report func(string)       // prints progress of a run or gate; may be nil
	count  func(tests int)    // gets the running gate's number of results; may be nil
	watch  func(agents.Event) // gets the agent's events; may be nil
	setUp  bool               // the set-up command has just run in this work tree
}

func (w *works) runner() *agent.Runner {
	return &agent.Runner{Root: w.app.Repo.Root(), Temp: w.app.env.TempDir(), Prober: prober(&w.app.env.Env),
		Environ: w.app.Environ(), Now: w.app.env.Now, Secrets: w.app.Redactor(), Report: w.say, Watch: w.saw,
		Hurry:   w.app.signals.hurry,
		Pending: func(id session.ID) ([]session.Request, error) { return w.app.Clone.Session(id).Inbox().Requests() }}
}

func (w *works) environ(plan workflows.Plan) []string {
	return process.DefaultEnv(w.app.Environ(), plan.Env)
}

func (w *works) say(line string) {
	if w.report != nil {
		w.report(line)
	}
}

func (w *works) saw(e agents.Event) {
	w.app.saves.Saw(e)
	if w.watch != nil {
		w.watch(e)
	}
}

func (w *works) Run(ctx context.Context, r session.RunRequest) (session.RunResult, error) {
	if err := w.app.rooms.KeepPackages(ctx, r, w.say); ctx.Err() != nil {
		return session.RunResult{}, ctx.Err()
	} else if err != nil {
		w.say("there is no copy of what is installed: " + safetext.Line(err.Error(), 300))
	}
	j := w.judge(ctx, r.Plan, r.RunDir, r.Started.Tree, false)
	runs := w.app.rooms.BaseRuns(r.Plan)
	j.Runs = runs
	err := j.Compare(ctx, session.JudgeRequest{Plan: r.Plan, Baseline: r.Baseline, Known: r.Known, RunDir: r.RunDir})
	w.app.rooms.Leave()
	if err != nil {
		return session.RunResult{}, err
	}
	defer runs.Forget()
	runner := w.runner()
	if runner.Settings, err = w.app.Repo.NoPush(ctx); err != nil {
		return session.RunResult{}, err
	}
	return runner.Run(ctx, r)
}

// judge creates the judge of the tree `judged`.
func (w *works) judge(ctx context.Context, plan workflows.Plan, runDir string, judged session.Tree,
	fresh bool) *phases.Judge {
	repo := w.app.Repo
	in := w.app.rooms.Packages(runDir, judged, fresh)
	exclude := rooms.BesideRuns(runDir, "exclude")
	j := &phases.Judge{
		Links: repo.Links,
		Dirty: func(ctx context.Context) (session.Tree, error) {
			snap, err := repo.Snapshot(ctx, exclude)
			return snap.Tree, err
		},
		Cold: func(ctx context.Context, tree session.Tree) (session.CleanTree, error) {
			cold := in
			cold.Cold = true
			return w.app.rooms.CleanTree(ctx, plan, cold, tree)
		},
	}
	j.Trees = trial.Trees{Show: repo.Show, Paths: repo.Paths, Changes: repo.Changes, Overlay: repo.Overlay,
		WithTexts: repo.WithTexts}
	j.RoomNote, j.Mend = w.app.rooms.GateNote(plan, runDir), w.app.rooms.Mend(ctx, plan)
	j.Runner = gate.Runner{Root: repo.Root(), Env: w.environ(plan), Secrets: w.app.Redactor(), Report: w.say,
		Counted: w.count, Setup: plan.Setup.Text(), SetUpHere: w.setUp,
		Clean: func(ctx context.Context, tree session.Tree) (session.CleanTree, error) {
			return w.app.rooms.CleanTree(ctx, plan, in, tree)
		}}
	return j
}

func (w *works) Judge(ctx context.Context, r session.JudgeRequest) (session.Judgement, error) {
	defer w.app.rooms.Leave()
	w.app.rooms.BaseRuns(r.Plan).Forget() // the run does this, too, unless it was killed
	return w.judge(ctx, r.Plan, r.RunDir, r.Tree, r.Packages).Judge(ctx, r)
}

func (w *works) Prove(ctx context.Context, r session.JudgeRequest) (session.Proof, error) {
	defer w.app.rooms.Leave()
	return w.judge(ctx, r.Plan, r.RunDir, r.Tree, r.Packages).Prove(ctx, r)
}

func (w *works) Baseline(ctx context.Context, p workflows.Plan, tree session.Tree, runDir string) (session.Baseline,
	session.Evidence, error) {
	defer w.app.rooms.Leave()
	j := w.judge(ctx, p, runDir, tree, false)
	j.Runs = w.app.rooms.BaseRuns(p)
	j.Bare = func(ctx context.Context, tree session.Tree) (bool, error) {
		if there, err := w.app.Repo.Rooms.Installed(ctx, tree); err != nil || len(there) == 0 && !p.Setup.IsZero() {
			return false, err // not bare: the set-up installs packages that are missing here
		}
		return w.app.Repo.Rooms.Bare(ctx, tree, p.Provide)
	}
	return j.Baseline(ctx, p, tree, runDir)
}

// Alive returns the processes of a run that still live although their wfs has died. If this clone is a copy of another
// one, Alive ignores runs that began in the original, because those still belong to it.
func (w *works) Alive(id session.ID, runID string) []session.Process {
	dir, err := w.app.Clone.Session(id).RunDir(runID)
	if err != nil {
		dir = ""
	}
	alive := w.runner().Alive(id, dir, runID)
	if len(alive) > 0 && !w.app.Clone.Ours(runID) {
		return nil
	}
	return alive
}

// End ends the processes that Alive finds. It returns their PIDs.
func (w *works) End(id session.ID, runID string) []int {
	dir, err := w.app.Clone.Session(id).RunDir(runID)
	if err != nil {
		return nil
	}
	return w.runner().End(id, dir, runID)
}
