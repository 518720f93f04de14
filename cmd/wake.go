package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// wake asks a run that waits for a limit, in the background or in another terminal, to try at once. woken is false when no
// run waits, or when more is asked for than a run that goes on can be given.
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
	if s := &v.Session; s.Status != session.StatusWaiting || s.Waiting.Reason != session.WaitLimit {
		return false, a.HeldBy(who, "%s is running in %s, and does not wait for a limit", id, s.Phase)
	}
	if o.Note != "" {
		if _, err := a.Clone.Post(id, session.Request{Kind: session.RequestNote, Text: a.Redactor().String(o.Note)}, a.env.Now(), a.env.NewID(4)); err != nil {
			return false, err
		}
	}
	r, err := a.Clone.Post(id, session.Request{Kind: session.RequestNow, Driver: who.Name()}, a.env.Now(), a.env.NewID(4))
	if err != nil {
		return false, err
	}
	next := []string{"wfs watch " + string(id), "wfs stop " + string(id)}
	if a.json {
		return true, a.answer(requestJSON{jsonVersion, id, r.ID, false, v.Session.Status, &driverJSON{who.PID, who.Command}, next})
	}
	a.out("asked: `%s` (pid %d) tries again now, and does not wait any longer", who.Command, who.PID)
	a.next(next)
	return true, nil
}
