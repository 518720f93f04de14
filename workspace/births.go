package workspace

import (
	"cmp"
	"context"

	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Births prepares the creation of sessions.
type Births struct{ w *Workspace }

// StartAt sets the commit that a new session begins at: `from` (a commit or branch) if it is not "", else HEAD. If HEAD
// is on the branch of a session, the new session begins at the base of that session, not on top of its checkpoints.
func (b *Births) StartAt(ctx context.Context, birth *transition.Birth, from string) error {
	repo := b.w.Repo
	cur, err := b.w.Current(ctx)
	if err != nil {
		return err
	}
	tip := func(ref string) session.Commit {
		c, err := repo.Ref(ctx, ref)
		if ref == "" || err != nil {
			return ""
		}
		return c
	}
	switch {
	case from != "":
		if birth.At, err = repo.Resolve(ctx, from); err != nil {
			return session.Refuse(session.RefuseUsage, "wfs list", "%q is no commit, branch or SESSION@CHECKPOINT", from)
		}
		if tip("refs/heads/"+from) == birth.At {
			birth.Created.BaseRef = "refs/heads/" + from
		}
	case cur != "":
		v, err := b.w.View(ctx, cur)
		if err != nil {
			return err
		}
		birth.At, birth.Created.BaseRef = cmp.Or(tip(v.Session.BaseRef), v.Session.Base), v.Session.BaseRef
	default:
		head, err := repo.Head(ctx)
		if err != nil {
			return err
		}
		birth.At, birth.Created.BaseRef = head.Commit, head.Ref
	}
	birth.Created.Base = birth.At
	return nil
}

// Fork prepares a session that continues from the checkpoint `from` of another session. The new session gets the budget
// of the other one, unless `budget` is set.
func (b *Births) Fork(ctx context.Context, from string, budget workflows.Budget) (transition.Birth, *workflows.Settings,
	error) {
	none := func(err error) (transition.Birth, *workflows.Settings, error) { return transition.Birth{}, nil, err }
	list, err := b.w.Rules(ctx)
	if err != nil {
		return none(err)
	}
	settings, err := b.w.Settings(list) // the settings for a separate work tree
	if err != nil {
		return none(err)
	}
	if err := b.w.MustTrust(list); err != nil {
		return none(err)
	}
	id, n, err := b.forkedFrom(ctx, from)
	if err != nil {
		return none(err)
	}
	if err := b.w.trustSession(ctx, id); err != nil {
		return none(err)
	}
	birth, err := b.w.Engine.Fork(ctx, id, n)
	if budget != (workflows.Budget{}) {
		birth.Created.Budget = budget
	}
	return birth, settings, err
}

// forkedFrom returns the session and the checkpoint number that a fork continues from. If `from` names only a session,
// it is that session's current checkpoint.
func (b *Births) forkedFrom(ctx context.Context, from string) (session.ID, int, error) {
	id, n, err := b.w.Address(ctx, from)
	if _, isNumber := CheckpointNumber(from); err == nil || isNumber || IsCheckpoint(from) {
		return id, n, err
	}
	if id, err = b.w.Resolve(ctx, from); err != nil {
		return id, 0, err
	}
	v, err := b.w.View(ctx, id)
	return id, v.Session.Current, err
}
