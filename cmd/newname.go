package cmd

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// holdFree takes the lock of a new session, under a name that is made of its goal and that nobody has. Until there is a
// lock somebody else may begin one of that name, so that it is asked for again under it. hold takes the lock of a session.
func (a *app) holdFree(ctx context.Context, goal string, hold func(session.ID) error) (session.ID, error) {
	id, err := a.freeID(ctx, goal)
	for err == nil {
		durable.Hit(durable.NameFound)
		locks := len(a.locks)
		if err = hold(id); err != nil {
			break
		}
		var now session.ID
		if now, err = a.freeID(ctx, goal); err != nil || now == id {
			break
		}
		for _, l := range a.locks[locks:] { // the session of that name is somebody else's
			l.Release()
		}
		a.locks, id = a.locks[:locks], now
	}
	return id, err
}

// freeID makes a session's name out of its goal. Taken are those of sessions, of deleted ones, so that they can come back,
// of half-made work trees, of which there is one note for each name, and those of branches that are in the way.
func (a *app) freeID(ctx context.Context, goal string) (session.ID, error) {
	all, err := a.repo.Sessions(ctx)
	if err != nil {
		return "", err
	}
	deleted, err := a.deletions(ctx)
	if err != nil {
		return "", err
	}
	half, _ := a.clone.HalfMade() // notes that cannot be read are said elsewhere
	id := session.Slug(goal, func(id session.ID) bool {
		_, taken := all[id]
		taken = taken || slices.ContainsFunc(deleted, func(d deletedJSON) bool { return d.ID == id }) ||
			slices.ContainsFunc(half, func(m registry.HalfMade) bool { return m.Session == id })
		if !taken { // a branch of that name that is not ours is taken as well
			tip, e := a.repo.Ref(ctx, session.BranchOf(id))
			taken, err = tip != "", e
		}
		if !taken && err == nil { // and so is one that git cannot have beside a branch that is there
			other, e := a.eng.Blocked(ctx, session.BranchOf(id))
			taken, err = other != "", e
		}
		return taken && err == nil
	})
	return id, err
}
