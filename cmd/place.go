package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// Where a session is: the work tree whose HEAD is on its branch. A verb that is given a session's name acts there,
// wherever it was typed.

// seen describes a session as it is seen from here.
func (a *app) seen(ctx context.Context, s *session.Session) (present.Session, *gitstate.Worktree, error) {
	in, err := a.PlaceOf(ctx, s.ID)
	if err != nil {
		return present.Session{}, nil, err
	}
	return a.describe(s, in), in, nil
}
