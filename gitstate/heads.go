package gitstate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
)

// HoldHeads keeps other wfs, in any work tree of this repository, from taking HEAD to a branch, and from planning a work tree,
// until release is called: two of them at once would both find the branch, or the name, free. It waits a few seconds, for
// others hold it for an instant.
func (r *Repo) HoldHeads(ctx context.Context) (release func(), err error) {
	const tries = 25 // of a fifth of a second each
	if err := durable.MkdirAll(r.StateDir()); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		l, err := durable.TryLock(filepath.Join(r.StateDir(), "heads.lock"), nil)
		switch {
		case err == nil:
			return func() { l.Release() }, nil
		case !errors.Is(err, durable.ErrLocked):
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case try == tries:
			return nil, fmt.Errorf("another wfs takes a HEAD elsewhere, and does not come to its end: %w", err)
		}
	}
}
