package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// seen describes a session as it is seen from here.
func (a *app) seen(ctx context.Context, s *session.Session) (sessionJSON, *gitstate.Worktree, error) {
	in, err := a.PlaceOf(ctx, s.ID)
	if err != nil {
		return sessionJSON{}, nil, err
	}
	return a.describe(s, in), in, nil
}

// sayPlace names a session's work tree if that is another one.
func (a *app) sayPlace(d sessionJSON) {
	switch {
	case d.Gone:
		a.out("work tree: %s, which is not there any more", d.Worktree)
	case d.Worktree != "" && !d.Current:
		a.out("work tree: %s", d.Worktree)
	}
}
