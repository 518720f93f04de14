package cmd

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace/check"
)

// know makes sure that this clone, and this work tree, are what they seem to be, before anything is written. A copy of a
// clone is told so, and gets an identity of its own: what goes on in the original is not its affair.
func (a *app) know(ctx context.Context) error {
	place, was, now, err := a.clone.Whence()
	if err != nil {
		return err
	}
	switch place {
	case registry.Same:
	case registry.Copied:
		a.note("this clone is a copy of %s: its runs continue there, and not here", was.Path)
		runs, kept, err := a.clone.LeaveHalfMade()
		if err != nil {
			return err
		}
		if kept != "" {
			a.note("notes of work trees that are being made or removed there are kept in %s", kept)
		}
		now.ID = a.env.newID(16)
		now.NotOurs = append(append(now.NotOurs, runs...), a.runsOf(ctx)...)
		slices.Sort(now.NotOurs)
		now.NotOurs = slices.DeleteFunc(slices.Compact(now.NotOurs), func(run string) bool { return run == "" })
		if err := a.clone.Identify(now); err != nil {
			return err
		}
	default:
		if now.ID == "" {
			now.ID = a.env.newID(16)
		}
		if place == registry.Moved && was.Path != now.Path {
			if err := a.cloneMoved(ctx, was.Path, now.Path); err != nil {
				return err
			}
		}
		if err := a.clone.Identify(now); err != nil { // last: what was not done is done again
			return err
		}
	}
	original, err := a.repo.CopyOf()
	if err == nil && original != "" {
		err = session.Refuse(session.RefuseWorktree, check.CopyHint(a.repo.Root()),
			"%s is a copy of the work tree %s, and git takes both for one, with one index", a.repo.Root(), original)
	}
	return err
}

// runsOf lists the newest run of each session that can be read.
func (a *app) runsOf(ctx context.Context) []string {
	all, _ := a.repo.Sessions(ctx)
	var runs []string
	for id, tip := range all {
		if v, err := a.eng.Load(ctx, id, tip); err == nil {
			runs = append(runs, v.Session.Started)
		}
	}
	return runs
}

// cloneMoved brings along what knows this clone by its path: the person's marks of trust, which are bound to the content
// that was trusted, and linked work trees.
func (a *app) cloneMoved(ctx context.Context, from, to string) error {
	store, err := a.trustStore()
	if err != nil {
		return err
	}
	if err := store.Follow(from, to); err != nil {
		return err
	}
	found, err := a.repo.RepairLinked(ctx, from)
	if err != nil {
		return err
	}
	a.note("this clone was at %s before", from)
	for _, path := range found {
		a.note("  its linked work tree is connected again: %s", path)
	}
	trees, err := a.repo.Linked(ctx)
	for _, t := range trees {
		if t.Gone && !t.Locked {
			a.note("  a linked work tree is not there any more: %s; if it was moved: git worktree repair NEW-PATH", t.Path)
		}
	}
	return err
}
