package transition

import (
	"context"
	"errors"
	"fmt"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// MoveFailedError is a move that failed: a filter refused a file, or the disk was full.
type MoveFailedError struct {
	ID      session.ID
	How     session.MoveKind
	Summary string
	Cause   error
	Stuck   error    // why the files could not be restored either; nil if they are as before the move
	Kept    []string // refs that keep files found half-way, none if there was nothing to save
	Way     string   // the command that gives up a stuck move and touches no file
}

func (e *MoveFailedError) Error() string {
	kept := keptHalfWay(e.Kept)
	if e.Stuck == nil {
		return fmt.Sprintf("%s failed; all files are as they were before%s: %v", e.Summary, kept, e.Cause)
	}
	return fmt.Sprintf("%s failed half-way%s: %v; undoing it failed too: %v", e.Summary, kept, e.Cause, e.Stuck)
}

func (e *MoveFailedError) Unwrap() error { return e.Cause }

// HalfWayError is a move that began and did not complete. The next command that changes something completes the move.
type HalfWayError struct {
	Summary   string
	Completes string // the command that completes it and does nothing else
	Cause     error
	Cut       bool // the user or a signal interrupted the command
}

func (e *HalfWayError) Error() string {
	const rest = "nothing is lost: the next command that changes something completes it"
	if e.Cut {
		return e.Summary + " was interrupted half-way: " + rest
	}
	return fmt.Sprintf("%v; %s stopped half-way: %s", e.Cause, e.Summary, rest)
}

func (e *HalfWayError) Unwrap() error { return e.Cause }

// standsHalfWay wraps `err` in a HalfWayError if a move is half-way done, unless `err` says so already.
func (h *Mover) standsHalfWay(ctx context.Context, m session.MoveStarted, err error) error {
	var half *HalfWayError
	var failed *MoveFailedError
	if err == nil || h.S.Moving == nil || errors.As(err, &half) || errors.As(err, &failed) {
		return err
	}
	return &HalfWayError{Summary: m.Summary, Completes: h.Completes(context.WithoutCancel(ctx), h.ID, m.Turn),
		Cause: err, Cut: ctx.Err() != nil}
}

// unmoved is an error before the ledger has moved, so the move can be undone.
type unmoved struct{ cause error }

func (e *unmoved) Error() string { return e.cause.Error() }

func (e *unmoved) Unwrap() error { return e.cause }

// goBack undoes a move that began and cannot be completed, so that it does not block every later command. It saves the
// current files first. If the process is killed in goBack, the next command tries to complete the move, like any
// interrupted move, and calls goBack again if that fails.
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
		safetext.FirstLine(cause.Error()), Move: true}); err != nil {
		return errors.Join(failed, err)
	}
	if err := h.Files.Unclaim(m.Turn.Worktree); err != nil {
		return errors.Join(failed, err)
	}
	return failed
}

// sayStuck records in the journal why a move can be neither completed nor undone, so that `wfs doctor` can report it:
// the reason may be permanent. A repeated failure for the same reason is not recorded again.
func (h *Mover) sayStuck(m session.MoveStarted, failed *MoveFailedError) error {
	was := m.Stuck
	if m.Stuck = safetext.FirstLine(failed.Cause.Error()); m.Stuck == was {
		return nil
	}
	return h.Append(m)
}

// bringFilesBack restores the files from before a move. HEAD and the index have not moved. If files are written to
// meanwhile, it saves these files and tries again, a few times.
func (h *Mover) bringFilesBack(ctx context.Context, m session.MoveStarted) error {
	const tries = 4
	roomy := false
	for try := 1; ; try++ {
		err := h.tryBack(ctx, m)
		// on a full disk, the files that the move has begun to write take the space that is needed: remove them once
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
		return fmt.Errorf("HEAD is now on %s", safetext.ShortRef(snap.Head.Name()))
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

// rescue saves a snapshot and returns the ref that keeps it. With `again`, it returns an existing rescue with the same
// reason and content, if there is one, so that a command that fails repeatedly does not pile up rescues.
func (h *Mover) rescue(ctx context.Context, why string, snap session.Snapshot, again bool) (string, error) {
	if again {
		if ref, err := h.Git.Rescued(ctx, h.ID, why, snap); err != nil || ref != "" {
			return ref, err
		}
	}
	return h.Git.Rescue(ctx, h.ID, why, snap, h.Clock.Now().Unix())
}

// failedBefore reports whether the newest event in the journal is a move that failed and was dropped.
func failedBefore(live []session.Event) bool {
	if len(live) == 0 {
		return false
	}
	d, ok := live[len(live)-1].Body.(session.Dropped)
	return ok && d.Move
}
