package transition

import (
	"context"
	"errors"
	"fmt"

	"github.com/wfs-dev/wfs/session"
)

// MoveFailedError is a move that could not be carried out: a filter refused a file, the disk was full.
type MoveFailedError struct {
	ID      session.ID
	How     session.MoveKind
	Summary string
	Cause   error
	Stuck   error    // why the files could not be brought back either, nil: they are as they were before the move
	Kept    []string // refs of the rescues of what lay there half-way, none when nothing of it had to be kept
	Way     string   // the command that lets the next one give a stuck move up; it touches no file
}

func (e *MoveFailedError) Error() string {
	kept := keptHalfWay(e.Kept)
	if e.Stuck == nil {
		return fmt.Sprintf("%s failed; all files are as they were before%s: %v", e.Summary, kept, e.Cause)
	}
	return fmt.Sprintf("%s failed half-way%s: %v; undoing it failed too: %v", e.Summary, kept, e.Cause, e.Stuck)
}

func (e *MoveFailedError) Unwrap() error { return e.Cause }

// HalfWayError is a move that began and did not come to its end. The next command that changes something completes it.
type HalfWayError struct {
	Summary   string
	Completes string // the command that does so, and nothing else
	Cause     error
	Cut       bool // it was interrupted
}

func (e *HalfWayError) Error() string {
	const rest = "nothing is lost: the next command that changes something completes it"
	if e.Cut {
		return e.Summary + " was interrupted half-way: " + rest
	}
	return fmt.Sprintf("%v; %s stopped half-way: %s", e.Cause, e.Summary, rest)
}

func (e *HalfWayError) Unwrap() error { return e.Cause }

// standsHalfWay tells of a move that stands half-way after an error, unless the error says so itself.
func (h *Mover) standsHalfWay(ctx context.Context, m session.MoveStarted, err error) error {
	var half *HalfWayError
	var failed *MoveFailedError
	if err == nil || h.S.Moving == nil || errors.As(err, &half) || errors.As(err, &failed) {
		return err
	}
	return &HalfWayError{Summary: m.Summary, Completes: h.Completes(context.WithoutCancel(ctx), h.ID, m.Turn),
		Cause: err, Cut: ctx.Err() != nil}
}

// unmoved is an error of the files' own move.
type unmoved struct{ cause error }

func (e *unmoved) Error() string { return e.cause.Error() }

func (e *unmoved) Unwrap() error { return e.cause }

// goBack takes a move back that began and cannot be carried out, so that it is not in the way of every command to come.
// What is there now is kept first. Killed on the way, the next command tries to complete the move, as any that was
// interrupted, and comes here again when that fails.
func (h *Mover) goBack(ctx context.Context, m session.MoveStarted, cause error) error {
	if ctx.Err() != nil {
		return h.standsHalfWay(ctx, m, cause)
	}
	failed := &MoveFailedError{ID: h.ID, How: m.How, Summary: m.Summary, Cause: cause, Way: session.GiveUp}
	failed.Stuck = h.bringFilesBack(ctx, m)
	if failed.Kept = h.Halfway; failed.Stuck != nil {
		return errors.Join(failed, h.sayStuck(m, failed))
	}
	h.Hit("move/back")
	if err := h.Append(session.Dropped{Why: "could not switch the files; they are as they were: " +
		session.FirstLine(cause.Error()), Move: true}); err != nil {
		return errors.Join(failed, err)
	}
	if err := h.Files.Unclaim(m.Turn.Worktree); err != nil {
		return errors.Join(failed, err)
	}
	return failed
}

// sayStuck notes that a move stands half-way for a reason that may stay.
func (h *Mover) sayStuck(m session.MoveStarted, failed *MoveFailedError) error {
	was := m.Stuck
	if m.Stuck = session.FirstLine(failed.Cause.Error()); m.Stuck == was {
		return nil
	}
	return h.Append(m)
}

// bringFilesBack makes the files what they were before a move began. HEAD and the index have not moved. Files
// that somebody writes to meanwhile are kept and moved again, a few times.
func (h *Mover) bringFilesBack(ctx context.Context, m session.MoveStarted) error {
	const tries = 4
	roomy := false
	for try := 1; ; try++ {
		err := h.tryBack(ctx, m)
		// on a full disk the half-written file is the room that is needed
		if err != nil && !errors.Is(err, session.ErrTouched) && !roomy {
			if roomy = true; h.Git.DropBegun(ctx, m.Turn.TreeOld, m.Turn.Tree) == nil {
				continue
			}
		}
		if !errors.Is(err, session.ErrTouched) || try == tries {
			return err
		}
	}
}

func (h *Mover) tryBack(ctx context.Context, m session.MoveStarted) error {
	t := m.Turn
	snap, err := h.Snapshot(ctx)
	if err != nil {
		return err
	}
	if !h.headAsLeft(snap.Head, t) {
		return fmt.Errorf("HEAD is now on %s", session.ShortRef(snap.Head.Name()))
	}
	plan, err := h.PlanMove(ctx, snap, t.TreeOld, t.RawOld)
	if err != nil {
		return err
	}
	snap.Raw, plan.Index = plan.Raw, t.IndexOld
	if snap.Tree != t.TreeOld || snap.Raw != "" {
		if err := h.rescueHalfWay(ctx, m, snap); err != nil {
			return err
		}
	}
	return h.Git.MoveBack(ctx, plan, t.Tree)
}

// rescue keeps a snapshot. With again, one that is kept already for the same reason is not kept once more: what fails,
// and is typed again and again, leaves no heap.
func (h *Mover) rescue(ctx context.Context, why string, snap session.Snapshot, again bool) (string, error) {
	if again {
		if ref, err := h.Git.Rescued(ctx, h.ID, why, snap); err != nil || ref != "" {
			return ref, err
		}
	}
	return h.Git.Rescue(ctx, h.ID, why, snap, h.Clock.Now().Unix())
}

// failedBefore reports whether a move that failed is the last that happened in the session.
func failedBefore(live []session.Event) bool {
	if len(live) == 0 {
		return false
	}
	d, ok := live[len(live)-1].Body.(session.Dropped)
	return ok && d.Move
}
