package workspace

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
)

// Hands opens sessions for writing. The result is an engine.Hand, which has the functions that change a session.
type Hands struct{ w *Workspace }

// Request says which session a command needs, and under which conditions.
type Request struct {
	Command string // name of the command, which its locks show to other processes
	Session string // name of the session as typed, "" for the current session
	Current bool   // the session must be checked out
	Trusted bool   // the session's commands will run, so the user must have trusted them
	// Undriven refuses the command while a run drives the session, because the run's agent could type the command as
	// well.
	Undriven bool
	// Locked is called when the locks are held, before unfinished work of a killed command is recovered. It may be nil.
	Locked func(session.ID)
}

// InHand opens a session for writing, in the work tree that has it checked out. It takes all locks in their fixed
// order, and completes or undoes what a killed command left unfinished.
func (h *Hands) InHand(ctx context.Context, r Request) (*engine.Hand, error) {
	if err := h.w.EnterNamed(ctx, r.Session); err != nil {
		return nil, err
	}
	if r.Undriven {
		if err := h.w.OpenWriter(ctx); err != nil {
			return nil, err
		}
		id, err := h.w.Resolve(ctx, r.Session)
		if err != nil {
			return nil, err
		}
		if err := h.w.Undriven(r.Command, id); err != nil {
			return nil, err
		}
	}
	if err := h.w.Begin(ctx, r.Command, !r.Current); err != nil {
		return nil, err
	}
	find := h.w.Resolve
	if r.Trusted {
		find = h.w.Workable
	}
	id, err := find(ctx, r.Session)
	if err != nil {
		return nil, err
	}
	if r.Current {
		if err := h.w.mustBeCurrent(ctx, id); err != nil {
			return nil, err
		}
	}
	if err := h.w.Hold(r.Command, id); err != nil {
		return nil, err
	}
	if r.Locked != nil {
		r.Locked(id)
	}
	return h.Take(ctx, id)
}

// HoldAndTake locks a session and opens it for writing. The caller must have called Begin or Ready before.
func (h *Hands) HoldAndTake(ctx context.Context, command string, id session.ID) (*engine.Hand, error) {
	if err := h.w.Hold(command, id); err != nil {
		return nil, err
	}
	return h.Take(ctx, id)
}

// Enter opens a session for writing that will become the current one in this work tree. If another session is current
// now, its uncommitted edits become a checkpoint, which Enter returns. The caller must have called Begin before.
func (h *Hands) Enter(ctx context.Context, command string, id session.ID) (*engine.Hand, *session.Checkpoint, error) {
	saved, err := h.Leave(ctx, command, id, "")
	if err != nil {
		return nil, nil, err
	}
	hand, err := h.Take(ctx, id)
	return hand, saved, err
}

// Leave prepares the switch from the current session to the session `target`, or to a new one if `target` is "". It
// locks both sessions, and returns the checkpoint that it makes of the current session's edits, if any. It makes none
// if the only edit is the file `spec`, the specification of the new session.
func (h *Hands) Leave(ctx context.Context, command string, target session.ID, spec string) (*session.Checkpoint,
	error) {
	cur, err := h.w.Current(ctx)
	if err != nil {
		return nil, err
	}
	var both []session.ID
	for _, id := range []session.ID{cur, target} {
		if id != "" {
			both = append(both, id)
		}
	}
	if err := h.w.Hold(command, both...); err != nil {
		return nil, err
	}
	if target != "" {
		if err := h.w.leaveGone(ctx, target); err != nil {
			return nil, err
		}
	}
	if cur == "" || cur == target {
		return nil, nil
	}
	_, saved, err := h.saveEdits(ctx, cur, spec, func() error { return nil })
	return saved, err
}

// LeaveFor opens the current session for writing, and makes a checkpoint of its edits, before HEAD moves to a branch
// that belongs to no session.
func (h *Hands) LeaveFor(ctx context.Context, command string, cur session.ID, branch string) (*engine.Hand,
	*session.Checkpoint, error) {
	if err := h.w.Hold(command, cur); err != nil {
		return nil, nil, err
	}
	return h.saveEdits(ctx, cur, "", func() error { return h.w.Engine.Free(ctx, branch) })
}

// saveEdits opens a session and makes a checkpoint of its edits, before HEAD moves away from its branch. It makes no
// checkpoint if `check` returns an error, or if the only edit is the file `spec`.
func (h *Hands) saveEdits(ctx context.Context, cur session.ID, spec string, check func() error) (*engine.Hand,
	*session.Checkpoint, error) {
	hand, err := h.Take(ctx, cur)
	if err != nil {
		return nil, nil, err
	}
	if err := hand.NoSurvivors(); err != nil {
		return nil, nil, err
	}
	if err := check(); err != nil {
		return nil, nil, err
	}
	if only, err := hand.OnlyEdit(ctx, spec); only || err != nil {
		return hand, nil, err
	}
	saved, err := hand.Save(ctx, fmt.Sprintf("edits of %s, kept when it was left", cur))
	return hand, saved, err
}

// Take opens a session for writing. The caller must hold its lock.
func (h *Hands) Take(ctx context.Context, id session.ID) (*engine.Hand, error) {
	h.w.Front.Opening()
	h.w.About = id
	return h.w.Engine.Open(ctx, id)
}
