// Package hand keeps a session open for writing: it appends events to its journal, and makes turns of them.
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

// Git is the part of the repository that a Hand needs.
type Git interface {
	Ref(ctx context.Context, name string) (session.Commit, error)
	File(ctx context.Context, ledger session.Commit, name string) ([]byte, error)
	// Snapshot writes the work tree durably as a tree object, through a private index; it only reads the user's index.
	// `exclude` is the path of the session's own exclude file, "" for none.
	Snapshot(ctx context.Context, exclude string) (session.Snapshot, error)
	// Ignored lists the paths that git ignores now. A directory that is ignored as a whole is one path, which ends in a
	// slash.
	Ignored(ctx context.Context) ([]string, error)
	// Prepare makes the code commit and the ledger commit of a draft durable, and publishes neither. It calls `seal` with
	// the ids of the new objects, to get the documents of the ledger commit.
	Prepare(ctx context.Context, d session.Draft, seal func(session.Made) (session.Files, error)) (session.Prepared, error)
	// Publish moves the ledger's ref, the commit point, and then the turn's other refs, the index and HEAD. It returns
	// ErrMoved if another process moved the ref.
	Publish(ctx context.Context, p session.Prepared) (session.Settled, error)
	// LogOp appends an operation to the log and returns its number. If the log already has an operation with the same
	// Ledger, it appends nothing.
	LogOp(ctx context.Context, op session.Op) (int64, error)
}

// Journal has the events of one session since its newest ledger commit. Only the holder of the driver lock uses it.
type Journal interface {
	// Events returns the events since the ledger's tip.
	Events() []session.Event
	// Existed reports whether the ledger's tip had a journal before this one was opened. If not, the process that made the
	// tip's turn died before it could begin one.
	Existed() bool
	// Append makes events durable before it returns.
	Append(events ...session.Event) error
	// Rotate replaces the journal by an empty one for a new tip of the ledger.
	Rotate(tip session.Commit) error
	// Discard removes the journal of a session that was never created.
	Discard() error
	// Claim durably records that this session moves a work tree, until Unclaim removes the record. A command that finds
	// such a claim first opens the claiming session, which completes the move.
	Claim(worktree string) error
	Unclaim(worktree string) error
}

// Rules are the exclude rules of one session: patterns for the paths that its snapshots leave out.
type Rules interface {
	// ExcludeFile returns the path of the session's exclude file, "" for none.
	ExcludeFile() string
	// Exclude returns the text of the exclude file.
	Exclude() ([]byte, error)
	// SetExclude replaces the session's exclude file durably.
	SetExclude(content []byte) error
}

// Runs has the files of one session's runs.
type Runs interface {
	// RunDir returns the directory of one run and creates it if needed.
	RunDir(runID string) (string, error)
	// KeepWas saves the old content of a file outside the session in the directory of the run that changed it.
	KeepWas(runID, file string, t session.Text) error
}

// Inbox has the requests of other processes to the driver of a session.
type Inbox interface {
	// Requests lists the requests in the order in which they were made.
	Requests() ([]session.Request, error)
	// Withdraw removes a request durably.
	Withdraw(request string) error
}

// Files has the files of one session in the clone.
type Files struct {
	Journal
	Rules
	Runs
	Inbox
}

// Clock tells the time.
type Clock interface {
	Now() time.Time
	// Sleep returns at the time `until`, but after a second at the latest, so that the caller can look for requests. If
	// ctx is cancelled, it returns ctx's error.
	Sleep(ctx context.Context, until time.Time) error
}

// Base has the parts that all Hands share.
type Base struct {
	history.Reader
	Git   Git
	Clock Clock
	// OpenFiles opens the files of a session, with the journal for the tip of its ledger ("" if the session has no ledger
	// yet). The caller holds the session's driver lock.
	OpenFiles func(id session.ID, tip session.Commit) (Files, error)
	// KeepTip caches the row of a session in `wfs list`, and documents of its newest ledger commit, see Reader.Cached.
	KeepTip  func(id session.ID, tip session.Commit, row map[string]any, files session.Files) error
	NewRunID func(id session.ID, number int) string
	// RunAlive lists processes of a run that are still alive, as far as the system can tell.
	RunAlive func(id session.ID, runID string) []session.Process
	// Tell is called after each durable event. It may be nil.
	Tell func(session.Event, *session.Session)
	// Redact removes secrets from texts of people, agents and gates before they are stored. It may be nil.
	Redact func(string) string
	// Hit is called with the name of each durable step. Tests use it to kill the process there.
	Hit    func(point string)
	Logged int64 // number of the last operation logged by this process, 0 for none
}

// Hand is a session opened for writing by the only process that may write it.
type Hand struct {
	ID       session.ID
	Tip      session.Commit
	S        session.Session
	kept     session.Session // the session in the documents of Tip, empty if these are unusable
	Plan     *workflows.Plan
	PlanText []byte // plan.json
	Files    Files
	Live     []session.Event // events since the ledger's tip
	Pending  *session.Event  // a turn that a dead process did not publish, nil for none
	Docs     session.Files   // documents that the next turn writes
	// Quiet stops auto-saves before a turn is made. It may be nil.
	Quiet func()
	base  *Base
}

// Born returns a hand on a session that has no ledger yet.
func (e *Base) Born(id session.ID) (*Hand, error) {
	files, err := e.OpenFiles(id, "")
	return &Hand{ID: id, Files: files, base: e}, err
}

// Reading returns a hand on a session that is only read: it has no journal, and must not make turns.
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

// At opens a session at a ledger commit for writing, without its plan. The caller holds the session's driver lock.
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

// Open opens a session for writing, and leaves unfinished operations of a dead process as they are. The caller holds
// the session's driver lock.
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

// Append makes bodies durable as the next events and applies them to the session.
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

// next returns the next event. It redacts secrets in the event, because events are kept forever.
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

// Known returns the tests that failed or were flaky on the base.
func (h *Hand) Known() []session.TestID {
	if b := h.S.Base0; b != nil {
		return slices.Concat(b.Red, b.Flaky)
	}
	return nil
}

// Evidence returns the evidence document `name`: the one that the next turn will write, or else the one in the ledger.
func (h *Hand) Evidence(ctx context.Context, name string) (session.Evidence, error) {
	if data, ok := h.Docs[name]; ok && data != nil {
		return decodeEvidence(data)
	}
	return h.base.Evidence(ctx, h.Tip, name)
}
