// Package engine decides what happens next in a session, and in which order it becomes true.
//
// It imports no git, no processes and no operating system, and never asks for the time: all of that comes in through
// the interfaces of ports.go. What holds at every instruction:
//
//  1. Before something outside starts (a run, a move of files, a finish), the journal says so.
//  2. A turn is true when the ledger's ref has moved, not before and not later. Everything else that belongs to it
//     (branch, HEAD, index) is made afterwards by the same idempotent step that recovery uses.
//  3. The journal never names a commit whose objects are not durable.
//  4. No file of the work tree is overwritten or deleted before its content is reachable from a ref.
package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/session/fold"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// ErrUnreadable is returned for a session whose events or documents are there and make no sense.
var ErrUnreadable = errors.New("its saved data cannot be used")

// Engine is what all verbs share.
type Engine struct {
	Store Store
	Works Works
	Clock Clock
	// OpenJournal opens the journal that extends a session's ledger tip ("" before birth). The caller of the verb
	// holds the session's driver lock.
	OpenJournal func(id session.ID, tip session.Commit) (Journal, error)
	// Peek reads a journal without changing anything.
	Peek func(id session.ID, tip session.Commit) ([]session.Event, error)
	// Tip and KeepTip are a cache of documents of a session's newest ledger commit. Tip returns nil for what it lacks.
	Tip     func(id session.ID, tip session.Commit) session.Files
	KeepTip func(id session.ID, tip session.Commit, row map[string]any, files session.Files) error
	// DecodePlan reads plan.json.
	DecodePlan func([]byte) (*workflows.Plan, error)
	NewRunID   func(id session.ID, number int) string
	// HoldsTests reports whether a path holds tests, or what tests read.
	HoldsTests func(path string) bool
	// Day is the day that a time is in, by the clock of the machine. Nil: that of UTC.
	Day func(time.Time) Day
	// Tell is called after each event is durable. It may be nil.
	Tell func(session.Event, *session.Session)
	// Saving begins to call save every now and then, while somebody works, until end is called; that waits for what goes
	// on at the moment. It may be nil.
	Saving func(save AutoSaver, o SavingOptions) (end func())
	// Driver is the name of this process as a stop is addressed to it. Cut says why the run's context was cancelled.
	Driver  string
	Cut     func() string
	Version string
	logged  int64 // number of the operation that this process has logged last, 0 for none
	// Redact takes secrets out of what people, agents and gates say, before it is kept. It may be nil.
	Redact func(string) string
	// Recovered is called for what a dead process had begun, once that has come to an end. It may be nil.
	Recovered func(Recovered)
	// Refused is called for a request that an older wfs would have granted. It may be nil.
	Refused func(session.Request)
	// Hit marks a durable step for fault injection. It may be nil.
	Hit func(point string)
}

func (e *Engine) hit(point string) {
	if e.Hit != nil {
		e.Hit(point)
	}
}

// View is what can be known of a session by reading alone.
type View struct {
	Tip     session.Commit
	Session session.Session
	Live    []session.Event // beyond the ledger's tip, without a pending turn
	Pending *session.Event  // a turn whose ledger commit was not published
}

// Load reads a session: the ledger's cache of the fold, and the live journal on top.
func (e *Engine) Load(ctx context.Context, id session.ID, tip session.Commit) (View, error) {
	live, err := e.Peek(id, tip)
	if err != nil {
		return View{}, err
	}
	return e.view(ctx, id, tip, live)
}

func (e *Engine) view(ctx context.Context, id session.ID, tip session.Commit, live []session.Event) (View, error) {
	v := View{Tip: tip, Live: live}
	if n := len(live); n > 0 && live[n-1].Kind().IsTurn() {
		v.Pending, v.Live = &live[n-1], live[:n-1]
	}
	s, err := e.cached(ctx, id, tip)
	if err != nil {
		return v, err
	}
	if v.Session, err = fold.Extend(s, v.Live); err != nil {
		err = fmt.Errorf("session %s: %w: its journal: %w", id, ErrUnreadable, err)
	}
	return v, err
}

// cached reads the session at a ledger commit from its documents, and folds its history anew when those cannot be used.
func (e *Engine) cached(ctx context.Context, id session.ID, tip session.Commit) (session.Session, error) {
	s, err := codec.ReadSession(func(name string) ([]byte, error) { return e.document(ctx, id, tip, name) })
	switch {
	case errors.Is(err, session.ErrNewer):
		return s, fmt.Errorf("session %s: %w", id, err)
	case err == nil && s.UpToDate() && s.ID == id:
		return s, nil
	}
	events, err := e.historyTo(ctx, tip)
	if err == nil && len(events) == 0 {
		return s, &session.NoLedgerError{ID: id, At: tip}
	}
	if err != nil {
		return s, fmt.Errorf("session %s: %w: neither session.json at %s nor its history can be read: %w", id,
			ErrUnreadable, tip.Short(), err)
	}
	if s, err = fold.Fold(events); err != nil {
		err = fmt.Errorf("session %s: %w: %w", id, ErrUnreadable, err)
	}
	return s, err
}

// document reads one document of a session's newest ledger commit.
func (e *Engine) document(ctx context.Context, id session.ID, tip session.Commit, name string) ([]byte, error) {
	if data := e.Tip(id, tip)[name]; data != nil {
		return data, nil
	}
	return e.Store.File(ctx, tip, name)
}

// History reads every event that the session's ledger holds, oldest first.
func (e *Engine) History(ctx context.Context, id session.ID) ([]session.Event, error) {
	tip, err := e.Store.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return nil, err
	}
	return e.historyTo(ctx, tip)
}

// historyTo reads the events of a ledger commit and of those before it, oldest first. The ref may be elsewhere,
// or gone: a session that was deleted is read before it is there again.
func (e *Engine) historyTo(ctx context.Context, tip session.Commit) ([]session.Event, error) {
	commits, err := e.Store.LedgersFrom(ctx, tip)
	if err != nil {
		return nil, err
	}
	var all []session.Event
	for _, c := range slices.Backward(commits) {
		events, err := e.eventsOf(ctx, c.Commit)
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	return all, nil
}

// eventsOf reads the events of one ledger commit.
func (e *Engine) eventsOf(ctx context.Context, ledger session.Commit) ([]session.Event, error) {
	data, err := e.Store.File(ctx, ledger, session.FileEvents)
	var events []session.Event
	if err == nil {
		events, err = codec.DecodeLines(data)
	}
	if err != nil {
		err = fmt.Errorf("history commit %s: %w", ledger.Short(), err)
	}
	return events, err
}

// Evidence reads one of the evidence documents of a ledger commit; absent, it is empty.
func (e *Engine) Evidence(ctx context.Context, ledger session.Commit, name string) (session.Evidence, error) {
	var ev session.Evidence
	data, err := e.Store.File(ctx, ledger, name)
	if err != nil || data == nil {
		return ev, err
	}
	return ev, json.Unmarshal(data, &ev)
}

// Hand is a session in the hands of the one process that may write to it.
type Hand struct {
	e        *Engine
	ID       session.ID
	Tip      session.Commit
	S        session.Session
	Plan     *workflows.Plan
	j        Journal
	live     []session.Event
	pending  *session.Event
	plan     []byte               // plan.json
	docs     session.Files        // documents that the next turn writes
	saving   func()               // ends the auto-saves that go on, nil for none
	Unheld   session.Staged       // what a checkpoint without changes could not hold
	stop     string               // id of the request to stop that this run has found
	woken    bool                 // by a request to wait no longer
	converts *session.Conversions // when this command began to drive, nil when it does not
	ended    *session.Snapshot    // what a run that has just ended left, for the step that follows
	halfway  []string             // rescues of what lay there while a move or finish went on
	// judgedAgain is how often the open attempt passed and files were found changed since.
	judgedAgain int
	// Stayed is why the session's documents are still in the work tree after a finish, nil: they are not.
	Stayed error
	// Agreed says that a finish was the answer to the question whether the work is done.
	Agreed bool
	scopes func() []Scope // of its budget, since it last looked at other sessions
}

// Open takes a session in hand, whose driver lock the caller holds, and recovers what a dead process left half done.
func (e *Engine) Open(ctx context.Context, id session.ID) (*Hand, error) {
	tip, err := e.Store.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return nil, err
	}
	if tip == "" {
		return nil, &session.Refusal{Code: session.RefuseNoSession, Message: fmt.Sprintf("no session %q", id),
			Hint: "wfs list"}
	}
	h := &Hand{e: e, ID: id, Tip: tip}
	if h.j, err = e.OpenJournal(id, tip); err != nil {
		return nil, err
	}
	v, err := e.view(ctx, id, tip, h.j.Events())
	if err != nil {
		return nil, err
	}
	h.S, h.live, h.pending = v.Session, v.Live, v.Pending
	plan, err := e.document(ctx, id, tip, session.FilePlan)
	if err != nil {
		return nil, err
	}
	h.plan = plan
	if h.Plan, err = e.DecodePlan(plan); err != nil {
		return nil, fmt.Errorf("session %s: %w: plan.json: %w", id, ErrUnreadable, err)
	}
	if err := h.keepExclude(ctx); err != nil {
		return nil, err
	}
	defer func(n int64) { e.logged = n }(e.logged) // what a dead process did was another command
	return h, h.recover(ctx)
}

// keepExclude writes the session's exclude file anew, from the ledger when the clone has lost it, and when a
// process died between an allowance and the rules that follow from it.
func (h *Hand) keepExclude(ctx context.Context) error {
	text, err := h.j.Exclude()
	if err != nil {
		return err
	}
	rules, guard := session.SplitGuard(text)
	if text != nil && slices.Equal(guard.Allowed, h.S.Allowed) {
		return nil
	}
	if text == nil {
		if text, err = h.e.Store.File(ctx, h.Tip, session.FileExclude); err != nil {
			return err
		}
		rules, guard = session.SplitGuard(text)
	}
	return h.setExclude(rules, h.S.Guarding(guard))
}

// append makes bodies durable as the next events and folds them in.
func (h *Hand) append(bodies ...session.Body) error {
	for _, b := range bodies {
		ev := h.next(b)
		s, err := fold.Extend(h.S, []session.Event{ev})
		if err != nil {
			return err
		}
		if err := h.j.Append(ev); err != nil {
			return err
		}
		h.S, h.live = s, append(h.live, ev)
		h.tell(ev)
	}
	return nil
}

// next is where an event is made: what is in it is kept for ever.
func (h *Hand) next(b session.Body) session.Event {
	if h.e.Redact != nil {
		b = codec.Worded(b, h.e.Redact)
	}
	return session.Event{Seq: h.S.Seq + 1, At: h.e.Clock.Now().UTC(), Body: b}
}

func (h *Hand) tell(ev session.Event) {
	if h.e.Tell != nil {
		h.e.Tell(ev, &h.S)
	}
}

// row is what a list prints of a session, under the names that its JSON for people has.
func row(s *session.Session) map[string]any {
	return map[string]any{"id": s.ID, "title": cmp.Or(s.Title, s.Goal), "status": s.Status, "phase": s.Phase, "lap": s.Lap,
		"items": len(s.Items), "items_done": len(s.Items) - len(items.Open(s)),
		"updated_at": time.Unix(s.UpdatedAt, 0).UTC()}
}

// turn makes something true: objects, then the journal, then the ledger's ref, then what follows from it. body is
// asked for the event once the draft's objects are known. log, which may be nil, is called when the turn is true and
// before the journal says so: what it does is done again if the process dies in between.
func (h *Hand) turn(ctx context.Context, d session.Draft, body func(session.Made) (session.Body, error),
	log func() error) (session.Made, error) {
	h.endSaving()
	d.Session, d.Ledger, d.At = h.ID, h.Tip, h.e.Clock.Now().Unix()
	var ev session.Event
	var after session.Session
	var cache []byte
	p, err := h.e.Store.Prepare(ctx, d, func(m session.Made) (session.Files, error) {
		b, err := body(m)
		if err != nil {
			return nil, err
		}
		ev = h.next(b)
		if after, err = fold.Extend(h.S, []session.Event{ev}); err != nil {
			return nil, err
		}
		files, err := h.files(after, ev)
		cache = files[session.FileSession]
		return files, err
	})
	if err != nil {
		return p.Made, err
	}
	if err := h.j.Append(ev); err != nil {
		return p.Made, err
	}
	h.e.hit("checkpoint/journaled")
	settled, err := h.e.Store.Publish(ctx, p)
	if err != nil {
		// Not published: what the journal says did not happen, and the next command reads it so.
		return p.Made, errors.Join(err, h.drop(ev, err))
	}
	h.S, h.Tip, h.live, h.docs = after, p.Ledger, nil, nil
	kept := session.Files{session.FileSession: cache, session.FilePlan: h.plan}
	if err := h.e.KeepTip(h.ID, h.Tip, row(&after), kept); err != nil {
		return p.Made, err
	}
	if log != nil {
		if err := log(); err != nil {
			return p.Made, err
		}
	}
	if err := h.j.Rotate(p.Ledger); err != nil {
		return p.Made, err
	}
	h.tell(ev)
	if len(settled.Foreign) > 0 || settled.HeadForeign != "" || settled.HeadBehind != nil {
		if d.Turn.Tree != "" { // what it had claimed stays with somebody else
			if err := h.j.Unclaim(d.Turn.Worktree); err != nil {
				return p.Made, err
			}
		}
		return p.Made, foreign(settled)
	}
	return p.Made, nil
}

// drop voids a turn that stands in the journal but was not published.
func (h *Hand) drop(turn session.Event, why error) error {
	tip, err := h.e.Store.Ref(context.Background(), session.LedgerOf(h.ID))
	if err != nil || tip != h.Tip {
		return err // it was published after all, or nobody can tell: recovery will look again
	}
	h.S.Seq, h.live = turn.Seq, append(h.live, turn)
	return h.append(session.Dropped{Why: firstLine(why.Error())})
}

func foreign(s session.Settled) error {
	if s.HeadForeign != "" {
		return &session.Refusal{Code: session.RefuseMoved,
			Message: fmt.Sprintf("HEAD was moved to %s by another process and was left there; the checkpoint is recorded",
				s.HeadForeign), Hint: "wfs status"}
	}
	if b := s.HeadBehind; b != nil {
		hint := "git switch " + short(b.Ref)
		if b.New == "" {
			hint = "git switch -c " + short(b.Ref)
		}
		return &session.Refusal{Code: session.RefuseMoved, Message: behind(b), Hint: hint}
	}
	m := s.Foreign[0]
	return &session.Refusal{Code: session.RefuseMoved,
		Message: fmt.Sprintf("%s was moved to %s by another process and was left there; the checkpoint is recorded",
			m.Ref, m.New.Short()), Hint: "wfs status"}
}

// files are the documents of the ledger commit that a turn makes.
func (h *Hand) files(after session.Session, turn session.Event) (session.Files, error) {
	files, err := codec.Documents(after)
	if err != nil {
		return nil, err
	}
	if files[session.FileEvents], err = codec.EncodeLines(append(h.live[:len(h.live):len(h.live)], turn)); err != nil {
		return nil, err
	}
	for name, data := range h.docs {
		files[name] = data
	}
	for _, name := range []string{session.FilePlan, session.FileWorkflow, session.FileSpec, session.FileBaseline,
		session.FileLap, session.FileEvidence, session.FileExclude} {
		if _, ok := files[name]; !ok {
			files[name] = nil // as in the previous ledger commit
		}
	}
	return files, nil
}

// doc keeps a document for the next turn.
func (h *Hand) doc(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if h.docs == nil {
		h.docs = session.Files{}
	}
	h.docs[name] = append(data, '\n')
	return nil
}

func firstLine(s string) string {
	for i, r := range s {
		if r == '\n' {
			return s[:i]
		}
	}
	return s
}

func decodeEvidence(data []byte) (session.Evidence, error) {
	var ev session.Evidence
	return ev, json.Unmarshal(data, &ev)
}
