package engine

import (
	"context"

	"github.com/wfs-dev/wfs/session"
)

// Rename changes what the session is called.
func (h *Hand) Rename(ctx context.Context, title string) error {
	title = oneLine(title, 200)
	if title == h.S.Headline() {
		return nil
	}
	return h.record(ctx, "renamed: "+title, func(t session.Turn) session.Body {
		return session.Renamed{Title: title, Turn: t}
	}, nil)
}
