package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// wake asks a run that waits for a limit, in the background or in another terminal, to try at once. woken is
// false when no run waits, or when more is asked for than a run that goes on can be given.
func (a *app) wake(ctx context.Context, name string, o engine.RunOptions) (woken bool, err error) {
	if o != (engine.RunOptions{Now: true, Note: o.Note}) {
		return false, nil
	}
	if err := a.OpenWriter(ctx); err != nil { // it may go on as an ordinary run
		return false, err
	}
	id, err := a.Resolve(ctx, name)
	if err != nil {
		return false, err
	}
	who, held, err := a.Driver(ctx, id)
	if err != nil || !held || !workspace.IsRun(who) {
		return false, err
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return false, err
	}
	s := &v.Session
	if s.Status != session.StatusWaiting || s.Waiting.Reason != session.WaitLimit {
		return false, a.HeldBy(who, "%s is running in %s, and does not wait for a limit", id, s.Phase)
	}
	if o.Note != "" {
		if _, err := a.Post(id, session.Request{Kind: session.RequestNote, Text: a.Redact(o.Note)}); err != nil {
			return false, err
		}
	}
	r, err := a.Post(id, session.Request{Kind: session.RequestNow, Driver: who.Name()})
	if err != nil {
		return false, err
	}
	return true, a.sayAsked(s, r, who, "tries again now, and does not wait any longer", "wfs stop "+string(id))
}
