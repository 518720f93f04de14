package cmd

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// sayEvents prints all events of a session, or only its newest ones.
func (a *logVerb) sayEvents(ctx context.Context, name string) error {
	id, err := a.OpenNamed(ctx, name)
	if err != nil {
		return err
	}
	events, err := eventsOf(ctx, a.Workspace, id)
	if err != nil {
		return err
	}
	if a.most > 0 {
		events = events[max(0, len(events)-a.most):]
	}
	a.page(ctx)
	for _, e := range events {
		if a.json {
			if err := a.answer(present.EventLine(e)); err != nil {
				return err
			}
			continue
		}
		text := strings.Join(strings.FieldsFunc(present.EventText(e.Body),
			func(r rune) bool { return r == '\n' || r == '\r' }), " ")
		a.env.Short("%5d  %s  %-15s  %s", e.Seq, e.At.UTC().Format("2006-01-02 15:04:05"), e.Kind(), text)
	}
	return nil
}

// eventsOf returns all events of a session, oldest first: those in the ledger, and newer ones in the journal.
func eventsOf(ctx context.Context, w *workspace.Workspace, id session.ID) ([]session.Event, error) {
	v, err := w.View(ctx, id)
	if err != nil {
		return nil, err
	}
	return eventsOfView(ctx, w, &v)
}

// eventsOfView does the same for a session that was read before. An event that moved to the ledger meanwhile is then
// found twice, not lost.
func eventsOfView(ctx context.Context, w *workspace.Workspace, v *history.View) ([]session.Event, error) {
	events, err := w.Engine.History(ctx, v.Session.ID)
	if err != nil {
		return nil, err
	}
	live := v.Live
	if v.Pending != nil {
		live = append(live[:len(live):len(live)], *v.Pending)
	}
	for _, e := range live {
		if n := len(events); n == 0 || e.Seq > events[n-1].Seq {
			events = append(events, e)
		}
	}
	return events, nil
}
