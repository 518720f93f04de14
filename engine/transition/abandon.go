package transition

import (
	"context"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
)

// Revive restores an abandoned session, without checking it out. It returns the number of its operation.
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
