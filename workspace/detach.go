package workspace

import (
	"context"
	"time"

	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/session"
)

// Detached is a `wfs run` that was started in the background.
type Detached struct {
	PID     int
	Log     string // file with its output
	Driving bool   // the run drives the session; if false, it has ended
	Exit    int
}

// Detach starts a `wfs run` that does not depend on the terminal. It returns when the run drives the session or has
// ended.
func (h *Hands) Detach(ctx context.Context, id session.ID, argv []string) (d Detached, err error) {
	if err := h.w.NotHeld(id, "is in use"); err != nil {
		return d, err
	}
	f, err := h.w.Engine.Follow(ctx, id)
	if err != nil {
		return d, err
	}
	log, err := h.w.Clone.Session(id).DetachedLog()
	if err != nil {
		return d, err
	}
	defer log.Close()
	d.Log = log.Name()
	pid, ended, err := proc.Detach(proc.Cmd{Argv: argv, Dir: h.w.Repo.Root(), Env: h.w.Env.Environ}, log)
	if err != nil {
		return d, err
	}
	for d.PID = pid; ; {
		if d.Driving, err = h.isDriving(ctx, f, pid); err != nil || d.Driving {
			return d, err
		}
		select {
		// the run ended before it drove the session: there was nothing to do, or the command was refused
		case d.Exit = <-ended:
			return d, nil
		case <-ctx.Done():
			h.w.Front.Note("the run may still begin: wfs status %s", id)
			return d, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// isDriving reports whether the process `pid` has recorded that it drives the session.
func (h *Hands) isDriving(ctx context.Context, f *history.Follower, pid int) (bool, error) {
	steps, err := f.Next(ctx)
	for _, s := range steps {
		if s.Event.Kind() == session.KindDriving && err == nil {
			who, held, err := h.w.Clone.Session(f.S.ID).Driver()
			return held && who.PID == pid, err
		}
	}
	return false, err
}
