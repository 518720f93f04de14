package history

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

// Audit has the defects of a session's ledger. Each error is nil if there is none.
type Audit struct {
	Chain   error         // ledger commits or events are unreadable or out of order
	Cache   error         // session.json differs from the fold of the events
	Plan    error         // plan.json is missing or unreadable
	Turns   int           // ledger commits read
	Format  int           // version of session.json, 0 if it cannot be read
	By      string        // version of the wfs that drove the session last, "" for none
	Latest  session.Event // the event with the latest time
	Session session.Session
}

// Audit reads the whole ledger of a session and compares it with its caches. It writes nothing. An error means that the
// ledger could not be checked.
func (e *Reader) Audit(ctx context.Context, id session.ID, tip session.Commit) (Audit, error) {
	var a Audit
	commits, err := e.Git.Ledgers(ctx, id)
	a.Turns = len(commits)
	if err != nil {
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		a.Chain = err
	}
	if a.Chain == nil {
		a.Session, a.Chain = e.foldAll(ctx, id, commits, &a)
	}
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	kept, err := codec.ReadSession(func(name string) ([]byte, error) { return e.Git.File(ctx, tip, name) })
	if err == nil {
		err = sameAsCache(&kept, &a.Session, a.Chain == nil, id)
	}
	a.Cache, a.Format = err, kept.Version
	plan, err := e.Git.File(ctx, tip, session.FilePlan)
	if err == nil {
		_, err = e.DecodePlan(plan)
	}
	a.Plan = err
	return a, nil
}

// foldAll folds the events of a ledger, oldest first. It sets By and Latest of an audit.
func (e *Reader) foldAll(ctx context.Context, id session.ID, commits []session.LedgerCommit, a *Audit) (
	s session.Session, err error) {
	for i := len(commits) - 1; i >= 0; i-- {
		at := commits[i].Commit
		events, err := e.EventsOf(ctx, at)
		if err != nil {
			return s, err
		}
		if len(events) == 0 || !events[len(events)-1].Kind().IsTurn() {
			err = errors.New("its events are incomplete")
		}
		if err == nil {
			s, err = fold.Extend(s, events)
		}
		for _, ev := range events {
			if d, ok := ev.Body.(session.Driving); ok {
				a.By = d.Version
			}
			if ev.At.After(a.Latest.At) {
				a.Latest = ev
			}
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

// sameAsCache returns an error if the session in session.json, `kept`, is not that of the session's id or, if the fold
// of the events is `known`, differs from it.
func sameAsCache(kept, folded *session.Session, known bool, id session.ID) error {
	switch {
	case !kept.UpToDate():
		return nil // a session.json in an older format is not used
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

// Fitting returns how many of the journal's events, counted from the first, can be applied to a session. `why` is the
// error of the first event that cannot, nil if all can. It ignores a turn at the end, because that turn was not
// published.
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
