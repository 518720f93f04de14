// Package engine drives sessions: it runs attempts, has them judged, and makes checkpoints of them.
//
// Its packages decide what happens next, and in which order it becomes true: decide (a pure function of a session),
// judging (what the gates are asked), transition (all that changes refs and files), finish (what `wfs finish` hands
// over), steering (what a person changes), hand (a session that is open for writing) and history (reading sessions).
// They import no git, no processes and no operating system, and never ask for the time: all of that comes in through
// interfaces, which engine.Git and Engine collect. What holds at every instruction:
//
//  1. Before something outside starts (a run, a move of files, a finish), the journal says so.
//  2. A turn is true when the ledger's ref has moved, not before and not later. Everything else that belongs to it
//     (branch, HEAD, index) is made afterwards by the same idempotent step that recovery uses.
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

// Works carries attempts out.
type Works interface {
	judging.Gates
	// Run does what the phase says. An error means that the engine could not find out how it went.
	Run(ctx context.Context, r session.RunRequest) (session.RunResult, error)
	// Left is what is known of a run whose end nobody saw.
	Left(id session.ID, runID string) session.Remains
	// Alive lists processes of a run that still live, as far as the system can tell.
	Alive(id session.ID, runID string) []session.Process
	// End ends those of them that are proven to be the run's own, and returns their numbers.
	End(id session.ID, runID string) []int
}

// Around is what there is beside a session that a run may change.
type Around interface {
	// Surroundings are what there is beside one session: refs of others, and files that say how git works here.
	Surroundings(ctx context.Context, id session.ID) (session.Surroundings, error)
	// Conversions are git's settings that say what it makes of files; PutConversionsBack names what it put back, and
	// what only the user may put back.
	Conversions(ctx context.Context) (session.Conversions, error)
	PutConversionsBack(ctx context.Context, was session.Conversions) (back, elsewhere []string, err error)
	// Locks are git's locks that are there now, of this work tree and of all.
	Locks() []session.GitLock
	// SetLocksAside moves locks into a directory if they stay, and it is certain that no living process holds them. It
	// returns the names of those that it moved.
	SetLocksAside(ctx context.Context, locks []session.GitLock, dir string) ([]string, error)
	// PutBack moves a ref to a commit from whatever it is at. It reports false when the commit is not there any more.
	PutBack(ctx context.Context, ref string, to session.Commit) (bool, error)
}

// AutoSaves are saves of the work tree beside the checkpoints.
type AutoSaves interface {
	// AutoSave saves the work tree, as it is now, as the session's newest auto-save.
	AutoSave(ctx context.Context, d session.AutoDraft) (session.AutoSaved, error)
	// EndAutoSaves says that there will be none for now.
	EndAutoSaves() error
}

// Git is all that the engine and its packages ask of the repository.
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

// Engine is what all verbs share.
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
	// Day is the day that a time is in, by the clock of the machine.
	Day func(time.Time) decide.Day
	// Saving begins to call save every now and then, while somebody works, until end is called; that waits for what goes
	// on at the moment. It may be nil.
	Saving func(save AutoSaver, o SavingOptions) (end func())
	// Driver is the name of this process as a stop is addressed to it. Cut says why the run's context was cancelled.
	Driver  string
	Cut     func() string
	Version string
	// Refused is called for a request that an older wfs would have granted. It may be nil.
	Refused func(session.Request)
}

// New returns an engine whose sessions share base.
func New(base *hand.Base, works Works) *Engine {
	kit := &transition.Kit{Base: base}
	base.RunAlive = func(id session.ID, runID string) []session.Process { return works.Alive(id, runID) }
	return &Engine{Kit: kit, Restoring: transition.Restoring{Kit: kit}, Saves: transition.Saves{Kit: kit},
		Tools: &judging.Tools{Gates: works}, Works: works}
}

// Use makes the engine work in another repository, or in another work tree of it. A session that is in hand by then stays
// with the former one.
func (e *Engine) Use(g Git) {
	e.Kit.Base.Reader.Git, e.Kit.Base.Git, e.Kit.Git = g.History, g.Hand, g.Transition
	e.place, e.Trees, e.handover, e.Around, e.AutoSaves = g.Checkpoint, g.Trees, g.Handover, g.Around, g.AutoSaves
}

// Hand is a session in the hands of the one process that may write to it, with all that can be done to it.
type Hand struct {
	*Drive
	*transition.All
	*finish.Finisher
}

// with is what can be done to a session in hand.
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

// Open takes a session in hand, whose driver lock the caller holds, and recovers what a dead process left half done.
func (e *Engine) Open(ctx context.Context, id session.ID) (*Hand, error) {
	opened, err := e.Base.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	h := e.with(opened)
	defer func(n int64) { e.Logged = n }(e.Logged) // what a dead process did was another command
	return h, h.recover(ctx)
}

// Look is a session that is only read, to say what a command would do to the files of this work tree.
type Look struct {
	*transition.Look
	finisher *finish.Finisher
}

// Look reads a session. exclude is the path of its exclude file, "" for none.
func (e *Engine) Look(ctx context.Context, id session.ID, exclude string) (*Look, error) {
	l, err := e.Kit.Look(ctx, id, exclude)
	if err != nil {
		return nil, err
	}
	return &Look{l, e.with(l.Hand).Finisher}, nil
}

// Finish is what Hand.Finish would do.
func (l *Look) Finish(ctx context.Context, o finish.Options) (transition.Preview, error) {
	return l.finisher.Preview(ctx, l.Exclude, o)
}

// TakeIn is Hear for a command of a person's: what they said in the request own is an operation.
func (h *Hand) TakeIn(ctx context.Context, own string) error {
	since := h.S.Seq
	if err := h.hear(own); err != nil {
		return err
	}
	return h.LogAnswer(ctx, since)
}
