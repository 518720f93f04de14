package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// app is one command line: its environment, and the rooms once a verb has asked for them. This file is the one place
// where rooms meet.
type app struct {
	env     Env
	json    bool
	color   when
	noPager bool
	pager   *pager           // nil: standard output goes where it always did
	secrets *redact.Redactor // nil: nothing needed it yet; see redactor
	signals *signals

	repo      *gitstate.Repo
	clone     *registry.Clone
	eng       *engine.Engine
	locks     []*durable.Lock
	since     int64    // Unix seconds: when the first lock was asked for
	notices   *notices // of a run, nil for other verbs
	watchful  watchful
	claimed   session.ID          // locked already, to complete its move
	recovered session.ID          // locked already, because locks of its dead run were in the way
	mending   map[session.ID]bool // whose locks the doctor has taken
	rooms     rooms
	notes     notes           // of sessions, about clean trees
	doing     *doing          // what is drawn at a terminal now, nil for nothing
	done      []recoveredJSON // what dead processes had begun, for the next answer
	away      session.ID      // acting on this one in its own work tree, which is not where the command was typed
	verb      string          // that was typed, with a flag that makes it a person's word
	about     session.ID      // the session that the command line is about; printed commands name it
}

// open finds the repository and wires the engine. It writes nothing and takes no lock.
func (a *app) open(ctx context.Context) error { return a.openFor(ctx, false) }

func (a *app) openFor(ctx context.Context, write bool) error {
	if a.repo != nil {
		return nil
	}
	repo, err := gitstate.Open(ctx, gitstate.Options{Dir: a.env.Dir, Env: a.env.Environ, Write: write, Waits: a.waits})
	if err != nil {
		return err
	}
	a.repo, a.clone = repo, registry.Open(repo.StateDir())
	a.eng = &engine.Engine{
		Store: repo,
		Works: &works{app: a},
		Clock: clock{a.env.Now},
		OpenJournal: func(id session.ID, tip session.Commit) (engine.Journal, error) {
			return a.clone.Journal(id, tip)
		},
		Peek: func(id session.ID, tip session.Commit) ([]session.Event, error) {
			events, _, err := a.clone.Peek(id, tip)
			return events, err
		},
		Begun:      a.clone.Begun,
		Tip:        a.clone.Tip,
		KeepTip:    a.clone.KeepTip,
		DecodePlan: workflows.DecodePlan,
		HoldsTests: testpaths.HoldsTests,
		NewRunID: func(id session.ID, number int) string {
			return fmt.Sprintf("%s-%04d-%s", id, number, a.env.newID(4))
		},
		Day:       func(t time.Time) engine.Day { return a.env.day(t) },
		Cut:       a.signals.why,
		Recovered: a.sayRecovered,
		Refused: func(r session.Request) {
			command := map[session.RequestKind]string{session.RequestAllow: "wfs allow",
				session.RequestBudget: "wfs edit"}[r.Kind]
			a.note("refused: a request that %s left in the inbox during a run; type it again", command)
		},
		Hit:     func(point string) { durable.Hit(durable.Point(point)) },
		Version: Version,
		Redact:  func(s string) string { return a.redactor().String(s) },
	}
	return nil
}

// waits says why nothing happens.
func (a *app) waits(why string) { a.note("%s", why) }

// redactor takes the secrets of this environment, and those of a known form, out of text. It is made where it is needed
// first: reading commands do without.
func (a *app) redactor() *redact.Redactor {
	if a.secrets == nil {
		a.secrets = redact.New(a.env.Environ)
	}
	return a.secrets
}

// ready is open for verbs that write: the repository must be in a state that can be worked with.
func (a *app) ready(ctx context.Context, detached bool) error {
	if err := a.inOrder(ctx, detached); err != nil {
		return err
	}
	return a.repo.Able(ctx)
}

// inOrder is ready but for what git has not answered yet.
func (a *app) inOrder(ctx context.Context, detached bool) error {
	if err := a.openFor(ctx, true); err != nil {
		return err
	}
	err := a.repo.Ready(ctx, detached)
	if err == nil {
		return a.know(ctx)
	}
	var not *gitstate.ReadyError
	if errors.As(err, &not) && (not.Code == gitstate.NotCommitted || not.Code == gitstate.NotBorn) { // or HEAD is on a session's branch that was deleted
		if id, e := a.current(ctx); e == nil && id != "" {
			if v, e := a.view(ctx, id); e == nil {
				return engine.BranchGone(&v.Session)
			}
		}
	}
	return err
}

// begin is ready for verbs that change the work tree: they look at HEAD and files only when they have its lock, and when
// a move that somebody began there has come to its end.
func (a *app) begin(ctx context.Context, command string, detached bool) error {
	if err := a.openFor(ctx, true); err != nil {
		return err
	}
	if err := a.notHeld(command); err != nil {
		return err
	}
	err := a.inOrder(ctx, detached)
	if aside, e := a.setDeadLocksAside(ctx, command, err); e != nil {
		return e
	} else if aside {
		err = a.inOrder(ctx, detached)
	}
	if err != nil {
		return err
	}
	if !a.repo.Used() { // else git may take its time until a session is locked, and is asked then
		if err := a.repo.Able(ctx); err != nil {
			return err
		}
	}
	a.sweep(ctx, command)
	return a.hold(command)
}

// notHeld turns a command away while another one works here. It is looked at first, because locks of git's that are
// there meanwhile are that one's, or its agent's, and not worth waiting for.
func (a *app) notHeld(command string) error {
	if _, held, err := a.clone.WorktreeHolder(a.repo.Worktree()); err != nil || !held {
		return err
	}
	l, err := a.clone.LockWorktree(a.repo.Worktree(), a.holder(command)) // which has a little patience
	if err == nil {
		err = l.Release()
	}
	return err
}

// hold takes the lock of this work tree, then those of sessions, in a fixed order. They end with the process.
func (a *app) hold(command string, ids ...session.ID) error {
	if err := a.notWithin(); err != nil {
		return err
	}
	who := a.holder(command)
	a.eng.Driver = who.Name()
	if len(a.locks) == 0 {
		l, err := a.clone.LockWorktree(a.repo.Worktree(), who)
		if err != nil {
			return err
		}
		a.locks = append(a.locks, l)
		if err := a.healLocks(context.Background(), who); err != nil {
			return err
		}
		claimed, err := a.clone.Claimed(a.repo.Worktree())
		if err != nil {
			return err
		}
		if claimed != "" {
			if err := a.completeClaim(command, claimed, who); err != nil {
				return err
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(ids, func(id session.ID) bool { return id == a.claimed || id == a.recovered })
	for _, id := range slices.Compact(ids) {
		who.Session = string(id)
		l, err := a.clone.LockSession(id, who)
		if err != nil {
			return err
		}
		a.locks = append(a.locks, l)
	}
	return a.repo.Able(context.Background())
}

// completeClaim lets the session that began to move this work tree end its move, before anybody looks at the files.
func (a *app) completeClaim(command string, id session.ID, who registry.Holder) error {
	who.Session = string(id)
	l, err := a.clone.LockSession(id, who)
	if err != nil {
		return err
	}
	a.locks, a.claimed = append(a.locks, l), id
	ctx := context.Background() // once begun it is ended, whatever the user types
	tip, err := a.repo.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return err
	}
	if tip != "" {
		var refused *session.Refusal
		if _, err := a.eng.Open(ctx, id); err != nil && !(errors.As(err, &refused) && refused.Code == session.RefuseNoSession) { // or its deletion was completed
			return err
		}
	}
	return a.clone.Unclaim(a.repo.Worktree())
}

func (a *app) close() {
	if a.repo != nil {
		a.repo.Quiet() // whatever still writes does so under the locks
	}
	for _, l := range slices.Backward(a.locks) {
		l.Release()
	}
	a.locks = nil
}

// sayAside warns of an operation log that this command could not read.
func (a *app) sayAside() {
	if a.repo != nil && a.repo.SetAside() != "" {
		a.note("warning: %s", a.repo.SetAside())
	}
}

// current returns the session whose branch HEAD is on in this work tree, "" for none.
func (a *app) current(ctx context.Context) (session.ID, error) {
	head, err := a.repo.Head(ctx)
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(head.Ref, session.BranchPrefix)
	if !ok {
		return "", nil
	}
	id, err := session.ParseID(name)
	if err != nil {
		return "", nil // a branch of somebody else's making
	}
	tip, err := a.repo.Ref(ctx, session.LedgerOf(id))
	if err != nil || tip == "" {
		return "", err
	}
	return id, nil
}

// view reads a session without locks.
func (a *app) view(ctx context.Context, id session.ID) (engine.View, error) {
	tip, err := a.repo.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return engine.View{}, err
	}
	if tip == "" {
		return engine.View{}, &session.Refusal{Code: session.RefuseNoSession, Message: fmt.Sprintf("no session %q", id), Hint: "wfs list"}
	}
	v, err := a.eng.Load(ctx, id, tip)
	if err != nil {
		return v, err
	}
	return v, a.seeInterrupted(&v.Session)
}

// openNamed opens the repository, as open does, and finds the session that a name means.
func (a *app) openNamed(ctx context.Context, name string) (session.ID, error) {
	if err := a.open(ctx); err != nil {
		return "", err
	}
	return a.resolve(ctx, name)
}

// openView is openNamed, and reads that session.
func (a *app) openView(ctx context.Context, name string) (engine.View, error) {
	id, err := a.openNamed(ctx, name)
	if err != nil {
		return engine.View{}, err
	}
	return a.view(ctx, id)
}

// seeInterrupted computes what no event says: the last word is "running", and nobody drives.
func (a *app) seeInterrupted(s *session.Session) error {
	if s.Status != session.StatusRunning {
		return nil
	}
	_, held, err := a.clone.Driver(s.ID)
	if err == nil && !held {
		s.Status, s.Why = session.StatusInterrupted, "the process that ran it is gone"
	}
	return err
}

// take opens a session for writing; the caller holds its lock.
func (a *app) take(ctx context.Context, id session.ID) (*engine.Hand, error) {
	a.clearLaid()
	a.about = id
	h, err := a.eng.Open(ctx, id)
	if h != nil && h.GivenBack > 0 {
		a.note("the journal of %s was gone: %d %s back, from the newest backup", id, h.GivenBack, plural(h.GivenBack, "event is", "events are"))
	}
	return h, err
}

// clock is the engine's clock.
type clock struct{ now func() time.Time }

func (c clock) Now() time.Time { return c.now().UTC() }

func (c clock) Sleep(ctx context.Context, until time.Time) error {
	// A short step, so that a laptop that slept through the time notices at once when it wakes.
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(until.Sub(c.now()), time.Second)):
		return nil
	}
}

// works carries attempts out in this work tree.
type works struct {
	app    *app
	report func(string)       // progress of a run or gate, may be nil
	count  func(tests int)    // results of a running gate so far, may be nil
	watch  func(agents.Event) // what the agent does, may be nil
	setUp  bool               // the set-up has just made this work tree
}

func (w *works) runner() *phases.Runner {
	return &phases.Runner{Root: w.app.repo.Root(), Temp: w.app.env.tempDir(), Prober: w.app.prober(), Environ: w.app.env.Environ, Now: w.app.env.Now, Secrets: w.app.redactor(), Report: w.say, Watch: w.saw, Hurry: w.app.signals.hurry}
}

func (w *works) environ(plan workflows.Plan) []string {
	return phases.DefaultEnv(w.app.env.Environ, plan.Env)
}

func (w *works) say(line string) {
	if w.report != nil {
		w.report(line)
	}
}

func (w *works) saw(e agents.Event) {
	w.app.watchful.event(e)
	if w.watch != nil {
		w.watch(e)
	}
}

func (w *works) Run(ctx context.Context, r session.RunRequest) (session.RunResult, error) {
	if err := w.takePackages(ctx, r); ctx.Err() != nil {
		return session.RunResult{}, ctx.Err()
	} else if err != nil {
		w.say("there is no copy of what is installed: " + safetext.Line(err.Error(), 300))
	}
	j := w.judge(r.Plan, r.RunDir, r.Started.Tree, false)
	runs := &baseRuns{app: w.app, plan: r.Plan}
	j.Runs = runs
	err := j.Places(ctx, session.JudgeRequest{Plan: r.Plan, Baseline: r.Baseline, Known: r.Known, RunDir: r.RunDir})
	w.app.leaveRooms()
	if err != nil {
		return session.RunResult{}, err
	}
	defer runs.forget()
	runner := w.runner()
	if runner.Settings, err = w.app.repo.NoPush(ctx); err != nil {
		return session.RunResult{}, err
	}
	return runner.Run(ctx, r)
}

// judge is the judge of one tree.
func (w *works) judge(plan workflows.Plan, runDir string, judged session.Tree, fresh bool) *phases.Judge {
	repo := w.app.repo
	in := packagesOf{notes: &w.app.notes, file: besideRuns(runDir, "packages"), judged: judged, fresh: fresh}
	exclude := besideRuns(runDir, "exclude")
	return &phases.Judge{Root: repo.Root(), Env: w.environ(plan), Secrets: w.app.redactor(), Report: w.say, Counted: w.count,
		Show: repo.Show, Links: repo.Links, Changes: repo.Changes, Overlay: repo.Overlay, WithTexts: repo.WithTexts,
		Paths: repo.Paths,
		Clean: func(ctx context.Context, tree session.Tree) (session.CleanTree, error) {
			return w.app.cleanTree(ctx, plan, in, tree)
		},
		Cold: func(ctx context.Context, tree session.Tree) (session.CleanTree, error) {
			cold := in
			cold.cold = true
			return w.app.cleanTree(ctx, plan, cold, tree)
		},
		RoomNote: w.app.roomNote(plan, runDir), Mend: w.app.mendRooms(plan), Setup: plan.Setup.Text(), SetUpHere: w.setUp,
		Dirty: func(ctx context.Context) (session.Tree, error) {
			snap, err := repo.Snapshot(ctx, exclude)
			return snap.Tree, err
		}}
}

func (w *works) Judge(ctx context.Context, r session.JudgeRequest) (session.Judgement, error) {
	defer w.app.leaveRooms()
	(&baseRuns{app: w.app}).forget() // the run may have been killed before it did
	return w.judge(r.Plan, r.RunDir, r.Tree, r.Packages).Judge(ctx, r)
}

func (w *works) Prove(ctx context.Context, r session.JudgeRequest) (session.Proof, error) {
	defer w.app.leaveRooms()
	return w.judge(r.Plan, r.RunDir, r.Tree, r.Packages).Prove(ctx, r)
}

func (w *works) Baseline(ctx context.Context, p workflows.Plan, tree session.Tree, runDir string) (session.Baseline, session.Evidence, error) {
	defer w.app.leaveRooms()
	j := w.judge(p, runDir, tree, false)
	j.Runs = &baseRuns{app: w.app, plan: p}
	j.Bare = func(ctx context.Context, tree session.Tree) (bool, error) {
		if there, err := w.app.repo.Installed(ctx, tree); err != nil || len(there) == 0 && !p.Setup.IsZero() {
			return false, err // the set-up would bring to the clean tree what is not here
		}
		return w.app.repo.Bare(ctx, tree, p.Provide)
	}
	return j.Baseline(ctx, p, tree, runDir)
}

// Alive finds nothing of a run that began in the clone that this one is a copy of: it goes on there.
func (w *works) Alive(id session.ID, runID string) []session.Process {
	dir, err := w.app.clone.RunDir(id, runID)
	if err != nil {
		dir = ""
	}
	alive := w.runner().Alive(id, dir, runID)
	if len(alive) > 0 && !w.app.clone.Ours(runID) {
		return nil
	}
	return alive
}

// End is asked for what Alive has found.
func (w *works) End(id session.ID, runID string) []int {
	dir, err := w.app.clone.RunDir(id, runID)
	if err != nil {
		return nil
	}
	return w.runner().End(id, dir, runID)
}
