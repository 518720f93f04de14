package transition

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
)

// Abandon says that nobody goes on with the session. Edits in the work tree, if it is current here, become a
// checkpoint first. Nothing is removed. It returns that checkpoint, nil when there was nothing to keep, and the
// operation's number.
func (h *Checkpoints) Abandon(ctx context.Context, reason string) (*session.Checkpoint, int64, error) {
	switch h.S.Status {
	case session.StatusFinished:
		return nil, 0, &session.Refusal{Code: session.RefuseFinal,
			Message: fmt.Sprintf("%s is finished: there is nothing to abandon", h.ID), Hint: "wfs delete " + string(h.ID)}
	case session.StatusAbandoned:
		return nil, 0, nil
	}
	kept, err := h.Keep(ctx, session.TriggerSwitch, "edits saved when the session was abandoned")
	if err != nil {
		return nil, 0, err
	}
	n, err := h.RecordOp(ctx, func(t session.Turn) session.Body {
		return session.Abandoned{Reason: session.OneLine(reason, 300), Summary: "abandon " + string(h.ID), Turn: t}
	})
	return kept, n, err
}

// Revive brings an abandoned session back.
func (h *Going) Revive(ctx context.Context) (int64, error) {
	r := session.Revived{Status: oplog.Alive(&h.S), Summary: reviveSummary(h.ID)}
	if r.Status == session.StatusPaused {
		r.Why = "restored"
	}
	return h.RecordOp(ctx, func(t session.Turn) session.Body {
		r.Turn = t
		return r
	})
}

func reviveSummary(id session.ID) string { return "bring " + string(id) + " back" }
