// Package engine drives sessions: it runs attempts, has them judged, and makes checkpoints of them.
//
// The decisions and their order are in its packages: decide (a pure function of a session), judging (which gates judge
// which tree), transition (all changes of refs and files), finish (the commit of `wfs finish`), steering (changes by a
// person), hand (a session open for writing) and history (reading sessions). They do not use git, processes or the
// operating system directly, and never read the clock. They get all of that through interfaces, which Git and Engine
// collect. Four rules hold at every instruction, since the process may be killed there:
//
//  1. Before an action outside begins (a run, a move of files, a finish), the journal records it.
//  2. Moving the ledger's ref is the commit point of a turn. The rest of the turn (branch, HEAD, index) is applied
//     afterwards, by the same idempotent step that recovery uses.
//  3. The journal never names a commit whose objects are not durable.
//  4. No file of the work tree is overwritten or deleted before its content is reachable from a ref.
package engine

import (
	"context"
	"time"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/engine/finish"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/engine/judging"
	"github.com/wfs-dev/wfs/engine/steering"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
)

// Works runs agents and gates.
type Works interface {
	judging.Gates
	// Run runs the phase's agent, command or script. An error means that the result of the run is unknown.
	Run(ctx context.Context, r session.RunRequest) (session.RunResult, error)
	// Left reconstructs the usage of a run whose driver was killed, and its agent's conversation. Often both are unknown,
	// and it returns the zero value.
	Left(id session.ID, runID string) session.Remains
	// Alive lists processes of a run that are still alive, as far as the system can tell.
	Alive(id session.ID, runID string) []session.Process
	// End ends those processes that provably belong to a run, and returns the IDs of the ended processes.
	End(id session.ID, runID string) []int
}

// Around is everything in the repository that a run may change besides the session's branch and files.
type Around interface {
	// Surroundings returns the refs that do not belong to the session, and the files that configure git in this
	// repository.
	Surroundings(ctx context.Context, id session.ID) (session.Surroundings, error)
	// MovesSince returns the ref moves of all operations that wfs has logged, in any work tree, since refs had the values
	// `was`, the oldest first. It skips operation logs that cannot be read.
	MovesSince(ctx context.Context, was map[string]session.Commit) []session.RefMove
	// Conversions returns the settings by which git converts files between the work tree and objects. PutConversionsBack
	// restores the settings `was`. `back` names the settings that it restored; `elsewhere` names changed settings in the
	// user's own configuration files, which only the user may restore.
	Conversions(ctx context.Context) (session.Conversions, error)
	PutConversionsBack(ctx context.Context, was session.Conversions) (back, elsewhere []string, err error)
	// Locks lists git's lock files that exist now: those of the repository, of refs, and of this work tree's HEAD and
	// index.
	Locks() []session.GitLock
	// SetLocksAside moves lock files into a directory if they do not disappear and it is certain that no living process
	// holds them. It returns the names of the locks that it moved.
	SetLocksAside(ctx context.Context, locks []session.GitLock, dir string) ([]string, error)
	// PutBack moves a ref to a commit, wherever the ref points now. It reports false if the commit no longer exists.
	PutBack(ctx context.Context, ref string, to session.Commit) (bool, error)
}

// AutoSaves saves the work tree between checkpoints.
type AutoSaves interface {
	// AutoSave saves the current work tree as the session's newest auto-save.
	AutoSave(ctx context.Context, d session.AutoDraft) (session.AutoSaved, error)
	// EndAutoSaves removes the private files of auto-saves, when no more follow for now. The newest auto-save stays.
	EndAutoSaves() error
}

// Git is everything that the engine and its packages need from the repository.
type Git struct {
	History    history.Git
	Hand       hand.Git
	Transition transition.Git
	Trees      judging.Trees
	Handover   finish.Git
	Checkpoint checkpoint.Git
	Around     Around
	AutoSaves  AutoSaves
}

// Engine has the parts that all commands share.
type Engine struct {
	*transition.Kit
	transition.Restoring
	transition.Saves
	*judging.Tools
	Works     Works
	Around    Around
	AutoSaves AutoSaves
	handover  finish.Git
	place     checkpoint.Git
	// Day returns the day that contains a time, by the clock of the machine.
	Day func(time.Time) decide.Day
	// Saving begins to call `save` regularly, while an agent works. `end` stops the calls, and waits for one in progress.
	// Saving may be nil.
	Saving func(save AutoSaver, o SavingOptions) (end func())
	// Driver identifies this process: a request to stop it names this value. Cut returns the reason why the context of the
	// run was cancelled.
	Driver  string
	Cut     func() string
	Version string
	// Refused is called for each request in the inbox to allow a path or to raise a budget. Only an older wfs grants
	// those; now a person must type the command. It may be nil.
	Refused func(session.Request)
}

// New returns an engine without a repository: call Use before any other method. All its sessions share `base`.
func New(base *hand.Base, works Works) *Engine {
	kit := &transition.Kit{Base: base}
	base.RunAlive = func(id session.ID, runID string) []session.Process { return works.Alive(id, runID) }
	return &Engine{Kit: kit, Restoring: transition.Restoring{Kit: kit}, Saves: transition.Saves{Kit: kit},
		Tools: &judging.Tools{Gates: works}, Works: works}
}

// Use switches the engine to another repository, or to another work tree of the same one. Sessions that are open
// already stay with the former repository or work tree.
func (e *Engine) Use(g Git) {
	e.Kit.Base.Reader.Git, e.Kit.Base.Git, e.Kit.Git = g.History, g.Hand, g.Transition
	e.place, e.Trees, e.handover, e.Around, e.AutoSaves = g.Checkpoint, g.Trees, g.Handover, g.Around, g.AutoSaves
}

// Hand is a session opened for writing by the only process that may write it, with all its operations.
type Hand struct {
	*Drive
	*transition.All
	*finish.Finisher
}

// with returns a Hand with all operations on the session of h.
func (e *Engine) with(h *hand.Hand) *Hand {
	all := transition.Of(h, e.Kit)
	place := checkpoint.Of(h, e.Base, e.place)
	judging := &judging.Judging{Hand: h, Tools: e.Tools}
	d := &Drive{Hand: h, Engine: e, Judging: judging, Steering: &steering.Steering{Checkpoints: place, Hit: e.Hit},
		Saver: &Saver{Hand: h, Engine: e}, Inbox: &Inbox{Hand: h, Engine: e},
		Outside: &Outside{Hand: h, Engine: e, checkpoints: place}}
	h.Quiet, judging.Convert = d.endSaving, d.convertAsBefore
	return &Hand{d, all, finish.Of(judging, all.FinishTurn, place, e.handover)}
}

// Open opens a session for writing, and recovers it if the process that wrote it last has died. The caller holds the
// session's driver lock.
func (e *Engine) Open(ctx context.Context, id session.ID) (*Hand, error) {
	opened, err := e.Base.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	h := e.with(opened)
	defer func(n int64) { e.Logged = n }(e.Logged) // operations that recovery logs belong to another command
	return h, h.recover(ctx)
}

// Look is a session opened for reading, to preview how a command would change the files of this work tree.
type Look struct {
	*transition.Look
	finisher *finish.Finisher
}

// Look opens a session for reading. `exclude` is the path of the session's exclude file, which lists the paths that its
// snapshots leave out; "" if it has none.
func (e *Engine) Look(ctx context.Context, id session.ID, exclude string) (*Look, error) {
	l, err := e.Kit.Look(ctx, id, exclude)
	if err != nil {
		return nil, err
	}
	return &Look{l, e.with(l.Hand).Finisher}, nil
}

// Finish returns what Hand.Finish would change.
func (l *Look) Finish(ctx context.Context, o finish.Options) (transition.Preview, error) {
	return l.finisher.Preview(ctx, l.Exclude, o)
}

// TakeIn handles the requests in the inbox for a command that a person has typed. `own` is the id of the request that
// the command has posted. TakeIn logs the effect of this request as an operation, which `wfs undo` can undo.
func (h *Hand) TakeIn(ctx context.Context, own string) error {
	since := h.S.Seq
	if err := h.hear(own); err != nil {
		return err
	}
	return h.LogAnswer(ctx, since)
}
