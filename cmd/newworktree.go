package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/internal/safetext"
)

// beginElsewhere opens the repository for a session in a new work tree. It does not lock the current work tree, because
// the session does not use it, and another command may hold its lock.
func (n *newborn) beginElsewhere(ctx context.Context) error {
	err := n.Ready(ctx, true)
	if err == nil {
		n.trees.Sweep(ctx, "wfs new")
	}
	return err
}

// createInTree creates the session in a new work tree. If it fails before the session's ledger exists, removing the
// work tree undoes everything. If it fails later, the next command completes the rest.
func (n *newborn) createInTree(ctx context.Context) error {
	n.b.Own = true
	main, err := n.MainRepo(ctx)
	if err != nil {
		return err
	}
	m, err := n.trees.Plan(ctx, n.o.dir, n.b.Created.ID, n.settings.Config.Worktree, main)
	if err != nil {
		return err
	}
	left, err := n.Repo.Dirty(ctx)
	if err != nil {
		return err
	}
	from, done := n.Repo, room.Provisioned{}
	if done, n.h, n.r, err = n.trees.Make(ctx, m, &n.b, &n.settings.Config, main); err != nil {
		return n.trees.TakeBack(context.WithoutCancel(ctx), from, m, err)
	}
	if err := n.Clone.Session(n.h.ID).ForgetHalfMade(); err != nil {
		return err
	}
	if !n.o.carry && !n.o.fork && left > 0 && !n.json {
		n.note("%d uncommitted %s here, and %s not in the new work tree (--carry would take a copy along)", left,
			plural(left, "change stays", "changes stay"), plural(left, "is", "are"))
	}
	n.sayTree(ctx, done)
	return nil
}

// carryAlong determines the files of checkpoint 0. With --carry these are the files of this work tree with all
// uncommitted changes, which also stay here. Otherwise they are the files of the commit from which the session starts.
func (n *newborn) carryAlong(ctx context.Context) (err error) {
	b := &n.b
	if !n.o.carry {
		b.Tree, err = n.Repo.TreeOf(ctx, b.At)
		return err
	}
	if err := n.Hold("wfs new"); err != nil {
		return err
	}
	snap, names, err := n.Uncommitted(ctx, b)
	if err == nil && b.At != snap.Head.Commit {
		err = usage("wfs new without --carry",
			"--carry takes changes along from HEAD, and this session begins elsewhere")
	}
	b.Created.Carried, b.Tree = names, snap.Tree
	return err
}

// sayTree lists the files that were copied or linked from the main work tree into the new one.
func (n *newborn) sayTree(ctx context.Context, p room.Provisioned) {
	if n.json {
		return
	}
	if len(p.Copied) > 0 {
		n.note("copied from the main work tree: %s", safetext.First(p.Copied, 5, " "))
	}
	if len(p.Linked) > 0 {
		n.note("linked to the main work tree, and shared with it: %s", safetext.First(p.Linked, 5, " "))
	}
	for _, s := range p.Skipped {
		n.note("not brought: %s (%s)", s.Path, s.Why)
	}
	if loose, err := n.Repo.Rooms.Loose(ctx, p.Linked); err == nil && len(loose) > 0 { // only a warning
		n.note("git does not ignore %s as a link, perhaps because of a slash at the end of the rule; checkpoints leave it out, git add -A would not", safetext.First(loose, 5, " "))
	}
}
