package engine

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/engine/steering"
	"github.com/wfs-dev/wfs/session"
)

// recover brings a session whose process died to the state before or after the step that was interrupted. First,
// All.Recover handles changes of files and refs. Then the last event of the journal decides:
//
//	attempt_started                interrupted; the files of the run become a checkpoint. Here and in the next two rows,
//	                               git locks left by dead processes are moved aside
//	run_ended                      nothing: it is judged next, also when its judging was interrupted
//	judged, decided                judged again: the tree may have changed since
//	answer of a person             logged as an operation, which the dead process has not done
func (h *Hand) recover(ctx context.Context) error {
	if err := h.All.Recover(ctx); err != nil {
		return err
	}
	if err := h.recoverAttempt(ctx); err != nil {
		return err
	}
	since := h.S.Seq
	for _, ev := range slices.Backward(h.Live) {
		if !steering.IsAnswer(ev.Body) {
			break
		}
		since = ev.Seq - 1
	}
	return h.LogAnswer(ctx, since)
}

// recoverAttempt ends the open attempt of a process that died, or leaves it to be judged if its run has ended. It
// blocks the session while processes of the run are alive.
func (h *Drive) recoverAttempt(ctx context.Context) error {
	o := h.S.Open
	if o == nil {
		return nil
	}
	if err := h.deadLocks(ctx); err != nil {
		return err
	}
	if o.Run != nil {
		if o.Judgement == nil {
			return nil
		}
		return h.Append(session.Reopened{Why: "the process died after the verdict"})
	}
	if err := h.left(h.Works.Left(h.ID, o.RunID)); err != nil {
		return err
	}
	if alive := h.Works.Alive(h.ID, o.RunID); len(alive) > 0 {
		return h.block(ctx, decide.Survivors(alive))
	}
	if err := h.Append(session.Interrupted{Why: "killed"}); err != nil {
		return err
	}
	_, err := h.Keep(ctx, session.TriggerInterrupted, "interrupted; found in the work tree")
	return err
}
