package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// beginElsewhere looks at a work tree that the session does not use: another command may be at work there.
func (n *newborn) beginElsewhere(ctx context.Context) error {
	err := n.Ready(ctx, true)
	if err == nil {
		n.sweep(ctx, "wfs new")
	}
	return err
}

// createInTree creates the session in a work tree of its own. Until the session's ledger is there, removing the
// work tree undoes everything; from then on the next command completes what is missing.
func (n *newborn) createInTree(ctx context.Context) error {
	n.b.Own = true
	main, err := n.MainRepo(ctx)
	if err != nil {
		return err
	}
	m, err := n.planTree(ctx, n.o.dir, n.b.Created.ID, n.settings.Config.Worktree, main)
	if err != nil {
		return err
	}
	left, err := n.Repo.Dirty(ctx)
	if err != nil {
		return err
	}
	from, done := n.Repo, room.Provisioned{}
	if done, n.h, n.r, err = n.makeTree(ctx, m, &n.b, &n.settings.Config, main); err != nil {
		return n.takeBackTree(context.WithoutCancel(ctx), from, m, err)
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

// carryAlong puts the uncommitted changes of this work tree into checkpoint 0 with --carry. They stay here as well.
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

// planTree says where the work tree will be, and writes that down.
func (a *app) planTree(ctx context.Context, typed string, id session.ID, c workflows.Worktree,
	main *gitstate.Repo) (registry.HalfMade, error) {
	dir, base := typed, a.env.Dir
	if dir == "" {
		dir, base = filepath.FromSlash(c.ExpandDir(filepath.Base(main.Root()), string(id))), main.Root()
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(base, dir)
	}
	release, err := a.Repo.HoldPlans(ctx) // two at once would give one name to both of their entries
	if err != nil {
		return registry.HalfMade{}, err
	}
	defer release()
	var taken []string
	half, _ := a.Clone.HalfMade() // notes that cannot be read are said elsewhere
	for _, m := range half {
		taken = append(taken, m.Name)
	}
	n, err := a.Repo.PlanWorktree(ctx, dir, taken...)
	if err != nil {
		return registry.HalfMade{}, dirRefusal(err)
	}
	m := registry.HalfMade{Session: id, Dir: n.Path, Above: n.Above, Name: n.Name,
		RunID: fmt.Sprintf("%s-setup-%s", id, a.env.NewID(4)),
		Trash: registry.TrashOf(n.Path, a.env.NewID(4))}
	if err := a.Clone.KeepHalfMade(m); err != nil {
		return m, err
	}
	durable.Hit(durable.WorktreeNoted)
	return m, nil
}

func dirRefusal(err error) error {
	if errors.Is(err, worktree.ErrDirTaken) {
		return session.Refuse(session.RefuseWorktree, "wfs new GOAL --worktree --dir ANOTHER", "%v", err)
	}
	return err
}

// makeTree makes the work tree, provides what git does not bring, and lets the session begin there.
func (a *app) makeTree(ctx context.Context, m registry.HalfMade, b *engine.Birth, config *workflows.Config,
	main *gitstate.Repo) (room.Provisioned, *engine.Hand, *engine.Relocated, error) {
	var done room.Provisioned
	made, err := a.Repo.AddWorktree(ctx, placeOfHalfMade(m), b.At, b.Tree)
	if err != nil {
		return done, nil, nil, err
	}
	a.Use(made, m.Session)
	l, err := a.LockTree(ctx, made, a.Holder("wfs new"))
	if err != nil {
		return done, nil, nil, err
	}
	a.KeepLock(l)
	if done, err = main.Rooms.Provision(ctx, made.Root(), config.Worktree.Copy, config.Worktree.Link); err != nil {
		return done, nil, nil, provisionRefusal(err)
	}
	left, err := a.setUp(ctx, m, b.At, config, main)
	if err != nil {
		return done, nil, nil, err
	}
	rules, guard := session.SplitGuard(b.Exclude)
	b.Exclude = session.WithGuard(engine.AddExcludes(rules, slices.Concat(done.Linked, done.Copied, left)), guard)
	if err := a.keepProvided(ctx, m, done, left); err != nil {
		return done, nil, nil, err
	}
	durable.Hit(durable.WorktreeSetUp)
	shown := a.showProgress()
	h, r, err := a.Engine.New(ctx, *b)
	shown()
	return done, h, r, err
}

func provisionRefusal(err error) error {
	var back *room.LeadsBackError
	switch {
	case errors.As(err, &back):
		return session.Refuse(session.RefuseSetup,
			"let worktree: setup in .wfs/config.yaml install it, instead of copy or link",
			"%s leads back to %s: gates in the new work tree would judge the files there", back.Path, back.To)
	case errors.Is(err, room.ErrCannotLink):
		return session.Refuse(session.RefuseSetup, "fix worktree: link in .wfs/config.yaml", "%v", err)
	}
	return err
}

// maxSetupFiles is how many files that git does not ignore a set-up may make. More than a package's metadata is
// a directory of packages, which .gitignore has to name once and not the session file by file.
const maxSetupFiles = 100

// setUp runs the set-up in a new work tree, and returns the files that it made there and git does not ignore.
// It returns files and no directories: what the agent will write beside them belongs to checkpoints.
func (a *app) setUp(ctx context.Context, m registry.HalfMade, at session.Commit, config *workflows.Config,
	main *gitstate.Repo) ([]string, error) {
	c := config.Worktree
	if c.Setup.IsZero() {
		return nil, nil
	}
	dir, err := a.Clone.Session(m.Session).RunDir("setup")
	if err != nil {
		return nil, err
	}
	if err := durable.MkdirAll(dir); err != nil {
		return nil, err
	}
	shown := a.showProgress()
	defer shown()
	w := a.Engine.Works.(*works)
	w.setUp = true
	err = w.runSetUp(ctx, "set-up", w.runner(),
		agent.SetupRequest{Command: c.Setup, Timeout: c.Timeout, Env: config.Env, RunDir: dir, RunID: m.RunID,
			Vars: []string{"WFS_SESSION=" + string(m.Session), "WFS_WORKTREE=" + a.Repo.Root(),
				"WFS_MAIN_WORKTREE=" + main.Root()}})
	if err != nil {
		return nil, err
	}
	_, left, err := a.Repo.Edited(ctx, at, "")
	if len(left) > maxSetupFiles {
		return nil, session.Refuse(session.RefuseSetup, "list them in .gitignore and commit that",
			"the set-up made %d files that git does not ignore: %s", len(left), shortList(left))
	}
	return left, err
}

// keepProvided writes down what can be had again, for the day when the work tree is removed. left is what the
// set-up made and git does not ignore.
func (a *app) keepProvided(ctx context.Context, m registry.HalfMade, done room.Provisioned, left []string) error {
	p := registry.Provided{Session: m.Session, Dir: m.Dir, Linked: done.Linked, Copied: done.Copied}
	ignored, err := a.Repo.Ignored(ctx)
	if err != nil {
		return err
	}
	p.Stamps = a.Repo.Stamps(slices.DeleteFunc(append(ignored, left...), func(name string) bool {
		n := strings.TrimSuffix(name, "/")
		return slices.Contains(done.Copied, n) || slices.Contains(done.Linked, n)
	}))
	return a.Clone.Worktree(a.Repo.Worktree()).KeepProvided(p)
}

// takeBackTree removes a work tree whose session did not begin, and returns why it did not.
func (a *app) takeBackTree(ctx context.Context, from *gitstate.Repo, m registry.HalfMade, why error) error {
	a.Use(from, "")
	if errors.Is(why, worktree.ErrDirTaken) { // what is there is somebody else's
		return errors.Join(dirRefusal(why), a.Clone.Session(m.Session).ForgetHalfMade())
	}
	if tip, err := from.Ref(ctx, session.LedgerOf(m.Session)); err != nil || tip != "" {
		return errors.Join(why, err) // it has begun: the next command completes it
	}
	kept, err := a.clearHalfMade(ctx, m)
	if err != nil {
		return fmt.Errorf("%w; and the new work tree could not be removed: %v", why, err)
	}
	if errors.Is(why, context.Canceled) && kept == "" {
		return fmt.Errorf("interrupted, and the new work tree was removed: %w", why)
	}
	return why
}

// sayTree says what was brought into a new work tree.
func (a *app) sayTree(ctx context.Context, p room.Provisioned) {
	if a.json {
		return
	}
	if len(p.Copied) > 0 {
		a.note("copied from the main work tree: %s", shortList(p.Copied))
	}
	if len(p.Linked) > 0 {
		a.note("linked to the main work tree, and shared with it: %s", shortList(p.Linked))
	}
	for _, s := range p.Skipped {
		a.note("not brought: %s (%s)", s.Path, s.Why)
	}
	if loose, err := a.Repo.Rooms.Loose(ctx, p.Linked); err == nil && len(loose) > 0 { // a warning, not worth failing for
		a.note("git does not ignore %s as a link, perhaps because of a slash at the end of the rule; checkpoints leave it out, git add -A would not", shortList(loose))
	}
}

func shortList(names []string) string {
	const shown = 5
	s := ""
	for i, n := range names[:min(len(names), shown)] {
		if i > 0 {
			s += " "
		}
		s += n
	}
	if more := len(names) - shown; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}
