package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/session/fold"
)

// Audit is what is wrong with a session's ledger. Each field is nil when nothing is.
type Audit struct {
	Chain   error // commits or events that cannot be read, or do not follow each other
	Cache   error // session.json is not what the events fold to
	Plan    error // plan.json
	Turns   int   // ledger commits that were read
	Session session.Session
}

// Audit reads all of a session's ledger and compares it with its caches. It writes nothing. What it returns as an error
// is that it could not look.
func (e *Engine) Audit(ctx context.Context, id session.ID, tip session.Commit) (Audit, error) {
	var a Audit
	commits, err := e.Store.Ledgers(ctx, id)
	a.Turns = len(commits)
	if err != nil {
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		a.Chain = err
	}
	if a.Chain == nil {
		a.Session, a.Chain = e.foldAll(ctx, id, commits)
	}
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	kept, err := codec.ReadSession(func(name string) ([]byte, error) { return e.Store.File(ctx, tip, name) })
	if err == nil {
		err = sameAsCache(&kept, &a.Session, a.Chain == nil, id)
	}
	a.Cache = err
	plan, err := e.Store.File(ctx, tip, session.FilePlan)
	if err == nil {
		_, err = e.DecodePlan(plan)
	}
	a.Plan = err
	return a, nil
}

// foldAll folds the events of a ledger, oldest first.
func (e *Engine) foldAll(ctx context.Context, id session.ID, commits []session.LedgerCommit) (s session.Session,
	err error) {
	for i := len(commits) - 1; i >= 0; i-- {
		at := commits[i].Commit
		events, err := e.eventsOf(ctx, at)
		if err != nil {
			return s, err
		}
		if len(events) == 0 || !events[len(events)-1].Kind().IsTurn() {
			err = errors.New("its events are incomplete")
		}
		if err == nil {
			s, err = fold.Extend(s, events)
		}
		if err == nil && s.ID != id {
			err = fmt.Errorf("it is of session %q", s.ID)
		}
		if err != nil {
			return s, fmt.Errorf("history commit %s: %w", at.Short(), err)
		}
	}
	if s.Seq == 0 {
		return s, errors.New("it has no events")
	}
	return s, nil
}

// sameAsCache compares a session that was read from its documents with what the events fold to, as far as those
// are known.
func sameAsCache(kept, folded *session.Session, known bool, id session.ID) error {
	switch {
	case !kept.UpToDate():
		return nil // it is not used
	case kept.ID != id:
		return fmt.Errorf("it is of session %q", kept.ID)
	case !known:
		return nil
	}
	have, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	want, err := json.Marshal(folded)
	if err == nil && !bytes.Equal(have, want) {
		err = errors.New("it does not match the events")
	}
	return err
}

// Fitting returns how many live events, from the first on, fit a session, and why not all do, nil when all do.
// A turn at their end is not looked at: it did not happen.
func Fitting(s session.Session, live []session.Event) (n int, why error) {
	for n = len(live); n > 0; n-- {
		some := live[:n]
		if some[n-1].Kind().IsTurn() {
			some = some[:n-1]
		}
		_, err := fold.Extend(s, some)
		if err == nil {
			return n, why
		}
		if why == nil {
			why = err
		}
	}
	return 0, why
}

// AtTip is what a session is at its ledger's tip, without its journal.
func (e *Engine) AtTip(ctx context.Context, id session.ID, tip session.Commit) (session.Session, error) {
	return e.cached(ctx, id, tip)
}
