package engine

import (
	"bytes"
	"context"

	"github.com/wfs-dev/wfs/session"
)

// A journal can be lost with everything that a clone keeps outside of Git. What it said is lost as well, but for what the
// newest auto-save has: it holds the events between the ledger's tip and the moment at which somebody was set to work.

// SavedEvents are the events that a session's newest auto-save holds beyond the ledger's tip, nil when it was made upon
// another one, or when they do not follow from it.
func (e *Engine) SavedEvents(ctx context.Context, id session.ID, tip session.Commit) ([]session.Event, error) {
	a, err := e.Store.Auto(ctx, id)
	if err != nil || a == nil || a.Ledger != tip {
		return nil, nil //nolint:nilerr // an auto-save that cannot be read has none
	}
	data, err := e.Store.File(ctx, a.Commit, session.FileEvents)
	if err != nil {
		return nil, err
	}
	events, err := session.DecodeLines(data)
	if err != nil || len(events) == 0 {
		return nil, nil //nolint:nilerr // the same
	}
	s, err := e.cached(ctx, id, tip)
	if err != nil {
		return nil, err
	}
	if n, why := Fitting(s, events); why != nil || n != len(events) || events[n-1].Kind().IsTurn() {
		return nil, nil //nolint:nilerr // the same
	}
	return events, nil
}

// GiveBack completes a journal whose beginning is that of an auto-save's events with the rest of them, and returns how
// many there were. The caller holds the session's lock.
func (e *Engine) GiveBack(ctx context.Context, id session.ID, tip session.Commit, j Journal) (int, error) {
	saved, err := e.SavedEvents(ctx, id, tip)
	if err != nil {
		return 0, err
	}
	have := j.Events()
	if len(saved) <= len(have) {
		return 0, nil
	}
	x, err := session.EncodeLines(have)
	if err != nil {
		return 0, err
	}
	y, err := session.EncodeLines(saved[:len(have)])
	if err != nil || !bytes.Equal(x, y) {
		return 0, err
	}
	if !j.Existed() {
		return len(saved), j.Begin(saved...)
	}
	return len(saved) - len(have), j.Append(saved[len(have):]...)
}

// giveBack gives a journal that is lost what the newest auto-save has of it. That there is one which was made upon the
// ledger's tip proves that whoever published that turn came to its end and began the journal, so that there is nothing to
// settle.
func (h *Hand) giveBack(ctx context.Context) error {
	if h.j.Existed() {
		return nil
	}
	var err error
	h.GivenBack, err = h.e.GiveBack(ctx, h.ID, h.Tip, h.j)
	return err
}
