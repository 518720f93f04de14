// Package history reads sessions: from the ledger, its caches and the journal. It takes no lock and writes nothing.
package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/session/fold"
	"github.com/wfs-dev/wfs/workflows"
)

// Git is the part of the repository that a Reader needs.
type Git interface {
	// Ref returns a ref's commit, "" when it does not exist. An unreadable ref is an error, never absence.
	Ref(ctx context.Context, name string) (session.Commit, error)
	// File returns one document of a ledger commit, nil if it has no such document.
	File(ctx context.Context, ledger session.Commit, name string) ([]byte, error)
	// Documents returns a document of each of these ledger commits, nil for those that have no such document.
	Documents(ctx context.Context, ledgers []session.Commit, name string) ([][]byte, error)
	// Ledgers lists a session's ledger commits, newest first.
	Ledgers(ctx context.Context, id session.ID) ([]session.LedgerCommit, error)
	// LedgersFrom lists a ledger commit and its ancestors, newest first, wherever the session's ledger ref points.
	LedgersFrom(ctx context.Context, tip session.Commit) ([]session.LedgerCommit, error)
}

// Reader reads sessions.
type Reader struct {
	Git Git
	// Peek reads the events in a session's journal for this tip of the ledger, without changing anything.
	Peek func(id session.ID, tip session.Commit) ([]session.Event, error)
	// Cached returns the documents of a session's newest ledger commit that a cache has, perhaps none.
	Cached func(id session.ID, tip session.Commit) session.Files
	// DecodePlan reads plan.json.
	DecodePlan func([]byte) (*workflows.Plan, error)
	// Known has the events of ledger commits that were read before; their content never changes. It is nil for a
	// command that reads each only once.
	Known *sync.Map
}

// ErrUnreadable means that a session's events or documents exist but make no sense.
var ErrUnreadable = errors.New("its saved data cannot be used")

// View is a session as read from the ledger and the journal.
type View struct {
	Tip     session.Commit
	Kept    session.Session // the session in the documents of Tip, empty if these are unusable
	Session session.Session
	Live    []session.Event // events since the ledger's tip, without a pending turn
	Pending *session.Event  // a turn whose ledger commit was not published, nil for none
}

// Load reads a session from the documents of a ledger commit, and adds the events of its journal.
func (e *Reader) Load(ctx context.Context, id session.ID, tip session.Commit) (View, error) {
	live, err := e.Peek(id, tip)
	if err != nil {
		return View{}, err
	}
	return e.ViewOf(ctx, id, tip, live)
}

// ViewOf does the same as Load, with `live` as the events of the journal.
func (e *Reader) ViewOf(ctx context.Context, id session.ID, tip session.Commit, live []session.Event) (View, error) {
	v := View{Tip: tip, Live: live}
	if n := len(live); n > 0 && live[n-1].Kind().IsTurn() {
		v.Pending, v.Live = &live[n-1], live[:n-1]
	}
	s, kept, err := e.atTip(ctx, id, tip)
	if err != nil {
		return v, err
	}
	if kept {
		v.Kept = s
	}
	if v.Session, err = fold.Extend(s, v.Live); err != nil {
		err = fmt.Errorf("session %s: %w: its journal: %w", id, ErrUnreadable, err)
	}
	return v, err
}

// AtTip returns the session as it was at a ledger commit. It reads the commit's documents or, if these are unusable,
// folds all events up to the commit.
func (e *Reader) AtTip(ctx context.Context, id session.ID, tip session.Commit) (session.Session, error) {
	s, _, err := e.atTip(ctx, id, tip)
	return s, err
}

// atTip does the same as AtTip. `kept` reports whether the session comes from the documents.
func (e *Reader) atTip(ctx context.Context, id session.ID, tip session.Commit) (s session.Session, kept bool,
	err error) {
	s, err = codec.ReadSession(func(name string) ([]byte, error) { return e.Document(ctx, id, tip, name) })
	switch {
	case errors.Is(err, session.ErrNewer):
		return s, false, fmt.Errorf("session %s: %w", id, err)
	case err == nil && s.UpToDate() && s.ID == id:
		return s, true, nil
	}
	events, err := e.historyTo(ctx, tip)
	if err == nil && len(events) == 0 {
		return s, false, &session.NoLedgerError{ID: id, At: tip}
	}
	if err != nil {
		return s, false, fmt.Errorf("session %s: %w: neither session.json at %s nor its history can be read: %w", id,
			ErrUnreadable, tip.Short(), err)
	}
	if s, err = fold.Fold(events); err != nil {
		err = fmt.Errorf("session %s: %w: %w", id, ErrUnreadable, err)
	}
	return s, false, err
}

// Document reads one document of a session's newest ledger commit, from the cache if the cache has it.
func (e *Reader) Document(ctx context.Context, id session.ID, tip session.Commit, name string) ([]byte, error) {
	if data := e.Cached(id, tip)[name]; data != nil {
		return data, nil
	}
	return e.Git.File(ctx, tip, name)
}

// History reads all events of the session's ledger, oldest first.
func (e *Reader) History(ctx context.Context, id session.ID) ([]session.Event, error) {
	tip, err := e.Git.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return nil, err
	}
	return e.historyTo(ctx, tip)
}

// historyTo reads the events of a ledger commit and its ancestors, oldest first. The session's ledger ref may point
// elsewhere or not exist: a deleted session is read before it is restored.
func (e *Reader) historyTo(ctx context.Context, tip session.Commit) ([]session.Event, error) {
	commits, err := e.Git.LedgersFrom(ctx, tip)
	if err != nil {
		return nil, err
	}
	var unread []session.Commit
	for _, c := range commits {
		if _, ok := e.known(c.Commit); !ok {
			unread = append(unread, c.Commit)
		}
	}
	read := map[session.Commit][]session.Event{}
	if len(unread) > manyFiles {
		if read, err = e.readAll(ctx, unread); err != nil {
			return nil, err
		}
	}
	var all []session.Event
	for _, c := range slices.Backward(commits) {
		events, ok := read[c.Commit]
		if !ok {
			if events, err = e.EventsOf(ctx, c.Commit); err != nil {
				return nil, err
			}
		}
		all = append(all, events...)
	}
	return all, nil
}

// readAll reads the events of many ledger commits, on each processor a part of them with one process of git.
func (e *Reader) readAll(ctx context.Context, ledgers []session.Commit) (map[session.Commit][]session.Event, error) {
	events, errs := make([][]session.Event, len(ledgers)), make([]error, len(ledgers))
	size := len(ledgers)/runtime.GOMAXPROCS(0) + 1
	var wait sync.WaitGroup
	for start := 0; start < len(ledgers); start += size {
		part := ledgers[start:min(start+size, len(ledgers))]
		wait.Go(func() {
			texts, err := e.Git.Documents(ctx, part, session.FileEvents)
			if err != nil {
				texts = make([][]byte, len(part))
			}
			for i, text := range texts {
				events[start+i], errs[start+i] = e.decode(part[i], text, err)
			}
		})
	}
	wait.Wait()
	read := map[session.Commit][]session.Event{}
	for i, ledger := range ledgers {
		read[ledger] = events[i]
	}
	return read, cmp.Or(errs...)
}

// manyFiles is how many files are read one by one. Above that, starting a process of git that reads all is quicker.
const manyFiles = 16

// EventsOf reads the events of one ledger commit.
func (e *Reader) EventsOf(ctx context.Context, ledger session.Commit) ([]session.Event, error) {
	if events, ok := e.known(ledger); ok {
		return events, nil
	}
	data, err := e.Git.File(ctx, ledger, session.FileEvents)
	return e.decode(ledger, data, err)
}

func (e *Reader) known(ledger session.Commit) (events []session.Event, ok bool) {
	if e.Known == nil {
		return nil, false
	}
	kept, ok := e.Known.Load(ledger)
	if ok {
		events = kept.([]session.Event)
	}
	return events, ok
}

// decode returns the events in a document of a ledger commit. `err` is the error of reading it.
func (e *Reader) decode(ledger session.Commit, data []byte, err error) (events []session.Event, _ error) {
	if err == nil {
		events, err = codec.DecodeLines(data)
	}
	if err != nil {
		return events, fmt.Errorf("history commit %s: %w", ledger.Short(), err)
	}
	if e.Known != nil {
		e.Known.Store(ledger, events)
	}
	return events, nil
}

// Evidence reads an evidence document of a ledger commit. The result is empty if the commit has no such document.
func (e *Reader) Evidence(ctx context.Context, ledger session.Commit, name string) (session.Evidence, error) {
	var ev session.Evidence
	data, err := e.Git.File(ctx, ledger, name)
	if err != nil || data == nil {
		return ev, err
	}
	return ev, json.Unmarshal(data, &ev)
}
