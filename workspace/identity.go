package workspace

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace/check"
)

// know checks the identity of this clone and this work tree, before anything is written. A clone that is a copy of
// another one gets a new identity, because processes that run in the original do not belong to the copy.
func (p *Places) know(ctx context.Context) error {
	place, was, now, err := p.w.Clone.Whence()
	if err != nil {
		return err
	}
	if place != registry.Same {
		if place == registry.Copied {
			err = p.cloneCopied(ctx, was, &now)
		} else if place == registry.Moved && was.Path != now.Path {
			err = p.cloneMoved(ctx, was.Path, now.Path)
		}
		if err != nil {
			return err
		}
		if now.ID == "" {
			now.ID = p.w.Env.NewID(16)
		}
		// this is the last step: if wfs is killed before it, all steps are repeated
		if err := p.w.Clone.Identify(now); err != nil {
			return err
		}
	}
	original, err := p.w.Repo.CopyOf()
	if err == nil && original != "" {
		err = session.Refuse(session.RefuseWorktree, check.CopyHint(p.w.Repo.Root()),
			"%s is a copy of the work tree %s, and git takes both for one, with one index", p.w.Repo.Root(), original)
	}
	return err
}

// cloneCopied records that the runs of the original clone do not belong to this copy.
func (p *Places) cloneCopied(ctx context.Context, was registry.Identity, now *registry.Identity) error {
	p.w.Front.Note("this clone is a copy of %s: its runs continue there, and not here", was.Path)
	runs, kept, err := p.w.Clone.LeaveHalfMade()
	if err != nil {
		return err
	}
	if kept != "" {
		p.w.Front.Note("notes of work trees that are being made or removed there are kept in %s", kept)
	}
	all, _ := p.w.Repo.Sessions(ctx)
	for id, tip := range all {
		if v, err := p.w.Engine.Load(ctx, id, tip); err == nil {
			runs = append(runs, v.Session.Started)
		}
	}
	runs = append(now.NotOurs, runs...)
	slices.Sort(runs)
	now.ID, now.NotOurs = "", slices.DeleteFunc(slices.Compact(runs), func(run string) bool { return run == "" })
	return nil
}

// cloneMoved updates data that is stored by the path of the clone: the user's trust, which is also bound to the trusted
// content. It reports linked work trees that git no longer finds.
func (p *Places) cloneMoved(ctx context.Context, from, to string) error {
	store, err := p.w.TrustStore()
	if err != nil {
		return err
	}
	if err := store.Follow(from, to); err != nil {
		return err
	}
	p.w.Front.Note("this clone was at %s before", from)
	trees, err := p.w.Repo.Linked(ctx)
	for _, t := range trees {
		if t.Gone && !t.Locked {
			p.w.Front.Note("  git does not find its linked work tree %s; to connect it: git worktree repair PATH", t.Path)
		}
	}
	return err
}
