package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/session"
)

// seen describes a session as it is seen from here.
func (a *app) seen(ctx context.Context, s *session.Session) (present.Session, *worktree.Worktree, error) {
	in, err := a.PlaceOf(ctx, s.ID)
	if err != nil {
		return present.Session{}, nil, err
	}
	return a.describe(s, in), in, nil
}
