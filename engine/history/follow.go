package history

import (
	"context"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/fold"
)

// Follower reads the events of a session while another process drives it. It takes no lock and writes nothing.
type Follower struct {
	r   *Reader
	id  session.ID
	tip session.Commit
	S   session.Session // the session after all events that Next has returned
}

// Step is an event that happened, and the session after it.
type Step struct {
	Event   session.Event
	Session session.Session
}

// Follow begins to follow a session: Next returns its events from now on.
func (e *Reader) Follow(ctx context.Context, id session.ID) (*Follower, error) {
	tip, err := e.Git.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return nil, err
	}
	if tip == "" {
		return nil, session.Refuse(session.RefuseNoSession, "wfs list", "no session %q", id)
	}
	v, err := e.Load(ctx, id, tip)
	return &Follower{r: e, id: id, tip: tip, S: v.Session}, err
}

// Next returns the events since the last call, oldest first. It returns a turn only after its ledger commit is
// published, and never one that was dropped.
func (f *Follower) Next(ctx context.Context) ([]Step, error) {
	tip, err := f.r.Git.Ref(ctx, session.LedgerOf(f.id))
	if err != nil {
		return nil, err
	}
	if tip == "" {
		return nil, session.Refuse(session.RefuseNoSession, "wfs list", "session %q is gone", f.id)
	}
	var events []session.Event
	if tip != f.tip {
		if events, err = f.published(ctx, tip); err != nil {
			return nil, err
		}
	}
	live, err := f.r.Peek(f.id, tip)
	if err != nil {
		return nil, err
	}
	if n := len(live); n > 0 && live[n-1].Kind().IsTurn() {
		live = live[:n-1]
	}
	steps, err := f.steps(append(events, live...))
	if err == nil {
		f.tip = tip
	}
	return steps, err
}

// published returns the events of all ledger commits since the last call of Next. It may also return older events.
func (f *Follower) published(ctx context.Context, tip session.Commit) ([]session.Event, error) {
	events, err := f.r.EventsOf(ctx, tip)
	if err != nil || len(events) > 0 && events[0].Seq <= f.S.Seq+1 {
		return events, err
	}
	commits, err := f.r.Git.Ledgers(ctx, f.id) // there were several turns since the last call
	if err != nil {
		return nil, err
	}
	for _, c := range commits {
		if c.Commit == tip {
			continue
		}
		older, err := f.r.EventsOf(ctx, c.Commit)
		if err != nil {
			return nil, err
		}
		events = append(older, events...)
		if len(events) > 0 && events[0].Seq <= f.S.Seq+1 {
			break
		}
	}
	return events, nil
}

// steps folds the new events.
func (f *Follower) steps(events []session.Event) ([]Step, error) {
	var steps []Step
	for i := 0; i < len(events); i++ {
		if events[i].Seq <= f.S.Seq {
			continue
		}
		n := 1
		if i+1 < len(events) && events[i+1].Kind() == session.KindDropped && events[i].Kind().IsTurn() {
			n = 2 // the turn was dropped: it never happened
		}
		s, err := fold.Extend(f.S, events[i:i+n])
		if err != nil {
			return steps, err
		}
		i += n - 1
		f.S = s
		steps = append(steps, Step{events[i], s})
	}
	return steps, nil
}
