package cmd

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
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
		a.note("this clone is a copy of %s: what goes on there goes on there, and is not continued here", was.Path)
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
		if err := a.clone.Identify(now); err != nil {
			return err
		}
		if place == registry.Moved && was.Path != now.Path {
			a.sayCloneMoved(ctx, was.Path)
		}
	}
	original, err := a.repo.CopyOf()
	if err == nil && original != "" {
		err = &session.Refusal{Code: session.RefuseWorktree, Message: a.repo.Root() + " is a copy of the work tree " + original + ", and git takes both for one, with one index",
			Hint: copyHint(a.repo.Root())}
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

// sayCloneMoved tells what follows from a clone's having been moved.
func (a *app) sayCloneMoved(ctx context.Context, from string) {
	trees, err := a.repo.Linked(ctx)
	if err != nil {
		return
	}
	for _, t := range trees {
		if t.Gone && !t.Locked {
			a.note("this clone was at %s before, and its linked work trees may not know it: git worktree repair", from)
			return
		}
	}
}
