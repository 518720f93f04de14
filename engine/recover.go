package engine

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/engine/steering"
	"github.com/wfs-dev/wfs/session"
)

// recover brings a session that a dead process left behind to the old state or the new one. All.Recover has the
// rows for what changes files and refs; after it, by the last word of the journal:
//
//	attempt_started                interrupted; what the run left is checkpointed as such, and locks of git's that dead
//	                               processes of it left are set aside, here and in the next two rows
//	run_ended                      nothing: it is judged next, also when its judging was interrupted
//	judged, decided                judged again: the tree may have changed since
//	what a person said             it becomes the operation that it would have been
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

// recoverAttempt ends an attempt that nobody carries on.
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
