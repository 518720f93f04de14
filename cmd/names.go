package cmd

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/session"
)

func (a *app) pickHint(ctx context.Context) string {
	all, err := a.Repo.Sessions(ctx)
	if err != nil || len(all) == 0 {
		return a.newCommand(ctx)
	}
	return "wfs list"
}

// absent says why a session that was named is not here, nil for no special reason; "" is the one that HEAD should be on.
func (a *app) absent(ctx context.Context, id session.ID) error {
	if id == "" {
		return a.lostLedger(ctx)
	}
	if kept, err := a.keptOf(ctx, id); err == nil && kept != "" {
		return &session.Refusal{Code: session.RefuseNoSession, Message: fmt.Sprintf("session %q was deleted", id), Hint: "wfs delete --restore " + string(id)}
	}
	return a.notFetched(ctx, id)
}
