// Package hand has a session open for writing: it appends events to its journal, and makes turns of them.
package hand

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/session/fold"
	"github.com/wfs-dev/wfs/workflows"
)

// Git is what a session in hand asks of the repository.
type Git interface {
	Ref(ctx context.Context, name string) (session.Commit, error)
	File(ctx context.Context, ledger session.Commit, name string) ([]byte, error)
	// Snapshot writes the work tree as a tree object, durable, through a private index; the user's index is only read.
	// exclude is the session's extra exclude file, "" for none.
	Snapshot(ctx context.Context, exclude string) (session.Snapshot, error)
	// Ignored lists what the work tree ignores now, directories collapsed and ending in a slash.
	Ignored(ctx context.Context) ([]string, error)
	// Prepare makes the code commit and the ledger commit that a draft describes, durable, and publishes nothing. seal
	// is called with what was made and returns the ledger's documents.
	Prepare(ctx context.Context, d session.Draft, seal func(session.Made) (session.Files, error)) (session.Prepared, error)
	// Publish moves the ledger's ref (the commit point; ErrMoved when somebody else did) and settles the turn.
	Publish(ctx context.Context, p session.Prepared) (session.Settled, error)
	// LogOp appends an operation and returns its number; one with the same Ledger that is already logged is not
	// logged twice.
	LogOp(ctx context.Context, op session.Op) (int64, error)
}

// Journal is the live edge of one session, held by whoever holds the session's driver lock.
type Journal interface {
	// Events are those that the journal holds beyond the ledger's tip.
	Events() []session.Event
	// Existed reports whether there was a journal for this tip when it was opened.
	Existed() bool
	// Append makes events durable before it returns.
	Append(events ...session.Event) error
	// Rotate starts the journal that extends a new ledger tip.
	Rotate(tip session.Commit) error
	// Discard removes the journal of a session that was never born.
	Discard() error
	// Claim says durably that this session moves a work tree, until Unclaim. Whoever finds a claim takes the session
	// in hand first, which completes the move.
	Claim(worktree string) error
	Unclaim(worktree string) error
}

// Rules are the exclude rules of one session.
type Rules interface {
	// ExcludeFile is the path of the session's exclude file, "" when it has none.
	ExcludeFile() string
	// Exclude returns the text of the exclude file.
	Exclude() ([]byte, error)
	// SetExclude replaces the session's exclude file durably.
	SetExclude(content []byte) error
}

// Runs are the files of the runs of one session.
type Runs interface {
	// RunDir returns the directory of one run, made if need be.
	RunDir(runID string) (string, error)
	// KeepWas keeps what a file beside the session was in the directory of the run that changed it.
	KeepWas(runID, file string, t session.Text) error
}

// Inbox has what other processes ask of whoever drives a session.
type Inbox interface {
	// Requests lists them in order.
	Requests() ([]session.Request, error)
	// Withdraw removes a request durably.
	Withdraw(request string) error
}

// Files are what the clone has of one session.
type Files struct {
	Journal
	Rules
	Runs
	Inbox
}

// Clock is where time comes from.
type Clock interface {
	Now() time.Time
	// Sleep returns at the time, after a second at the latest, or with the context's error.
	Sleep(ctx context.Context, until time.Time) error
}

// Base is what all sessions in hand share.
type Base struct {
	history.Reader
	Git   Git
	Clock Clock
	// OpenFiles opens the files of a session, with the journal that extends its ledger's tip ("" before birth). The caller
	// of the verb holds the session's driver lock.
	OpenFiles func(id session.ID, tip session.Commit) (Files, error)
	// KeepTip caches the row of a session in lists, and documents of its newest ledger commit, see Reader.Cached.
	KeepTip  func(id session.ID, tip session.Commit, row map[string]any, files session.Files) error
	NewRunID func(id session.ID, number int) string
	// RunAlive lists processes of a run that still live, as far as the system can tell.
	RunAlive func(id session.ID, runID string) []session.Process
	// Tell is called after each event is durable. It may be nil.
	Tell func(session.Event, *session.Session)
	// Redact takes secrets out of what people, agents and gates say, before it is kept. It may be nil.
	Redact func(string) string
	// Hit marks a durable step for fault injection.
	Hit    func(point string)
	Logged int64 // number of the operation that this process has logged last, 0 for none
}

// Hand is a session in the hands of the one process that may write to it.
type Hand struct {
	ID       session.ID
	Tip      session.Commit
	S        session.Session
	kept     session.Session // as the documents of Tip hold it, empty when those cannot be used
	Plan     *workflows.Plan
	PlanText []byte // plan.json
	Files    Files
	Live     []session.Event // beyond the ledger's tip
	Pending  *session.Event  // a turn that a dead process did not publish
	Docs     session.Files   // documents that the next turn writes
	// Quiet ends what writes in the background before a turn is made, nil for nothing.
	Quiet func()
	base  *Base
}

// Born is a hand on a session that has no ledger yet.
func (e *Base) Born(id session.ID) (*Hand, error) {
	files, err := e.OpenFiles(id, "")
	return &Hand{ID: id, Files: files, base: e}, err
}

// Reading is a hand on a session that is only read: it has no files, and makes no turn.
func (e *Base) Reading(ctx context.Context, id session.ID) (*Hand, error) {
	tip, err := e.Git.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return nil, err
	}
	v, err := e.Load(ctx, id, tip)
	if err != nil {
		return nil, err
	}
	h := &Hand{ID: id, Tip: tip, S: v.Session, base: e}
	return h, h.readPlan(ctx)
}

func (h *Hand) readPlan(ctx context.Context) (err error) {
	if h.PlanText, err = h.base.Document(ctx, h.ID, h.Tip, session.FilePlan); err != nil {
		return err
	}
	if h.Plan, err = h.base.DecodePlan(h.PlanText); err != nil {
		err = fmt.Errorf("session %s: %w: plan.json: %w", h.ID, history.ErrUnreadable, err)
	}
	return err
}

// At takes a session at a ledger commit in hand, whose driver lock the caller holds. Its plan is not read.
func (e *Base) At(ctx context.Context, id session.ID, tip session.Commit) (*Hand, error) {
	h := &Hand{ID: id, Tip: tip, base: e}
	var err error
	if h.Files, err = e.OpenFiles(id, tip); err != nil {
		return nil, err
	}
	v, err := e.ViewOf(ctx, id, tip, h.Files.Events())
	h.S, h.kept, h.Live, h.Pending = v.Session, v.Kept, v.Live, v.Pending
	return h, err
}

// Open takes a session in hand, whose driver lock the caller holds. What a dead process left half done is as it
// was left.
func (e *Base) Open(ctx context.Context, id session.ID) (*Hand, error) {
	tip, err := e.Git.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return nil, err
	}
	if tip == "" {
		return nil, session.Refuse(session.RefuseNoSession, "wfs list", "no session %q", id)
	}
	h, err := e.At(ctx, id, tip)
	if err != nil {
		return nil, err
	}
	if err := h.readPlan(ctx); err != nil {
		return nil, err
	}
	return h, h.KeepExclude(ctx)
}

// Append makes bodies durable as the next events and folds them in.
func (h *Hand) Append(bodies ...session.Body) error {
	for _, b := range bodies {
		ev := h.next(b)
		s, err := fold.Extend(h.S, []session.Event{ev})
		if err != nil {
			return err
		}
		if err := h.Files.Append(ev); err != nil {
			return err
		}
		h.S, h.Live = s, append(h.Live, ev)
		h.tell(ev)
	}
	return nil
}

// next is where an event is made: what is in it is kept for ever.
func (h *Hand) next(b session.Body) session.Event {
	if h.base.Redact != nil {
		b = codec.Worded(b, h.base.Redact)
	}
	return session.Event{Seq: h.S.Seq + 1, At: h.base.Clock.Now().UTC(), Body: b}
}

func (h *Hand) tell(ev session.Event) {
	if h.base.Tell != nil {
		h.base.Tell(ev, &h.S)
	}
}

// Known are the tests that failed or flickered on the base.
func (h *Hand) Known() []session.TestID {
	if b := h.S.Base0; b != nil {
		return slices.Concat(b.Red, b.Flaky)
	}
	return nil
}

// Evidence reads an evidence document: the one that waits for the next turn, or the ledger's.
func (h *Hand) Evidence(ctx context.Context, name string) (session.Evidence, error) {
	if data, ok := h.Docs[name]; ok && data != nil {
		return decodeEvidence(data)
	}
	return h.base.Evidence(ctx, h.Tip, name)
}
