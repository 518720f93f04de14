package engine

import (
	"context"

	"github.com/wfs-dev/wfs/session"
)

// Parked returns the operations that left uncommitted changes behind on a branch in this work tree and whose changes have
// not come back, newest first.
func (e *Engine) Parked(ctx context.Context, branch string) ([]session.Op, error) {
	ops, err := e.Store.Ops(ctx)
	return session.Parked(ops, branch), err
}
