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
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// newInTree begins a session in a work tree of its own. The one where it is typed is only read: somebody may be at work
// there. Until the session's ledger is there, everything can be taken back by removing the work tree; from then on the
// next command completes what is missing.
func (a *app) newInTree(ctx context.Context, o newOptions) error {
	if err := a.fit(ctx); err != nil {
		return err
	}
	if err := a.Ready(ctx, true); err != nil {
		return err
	}
	a.sweep(ctx, "wfs new")
	if err := a.takeHoldout(ctx, &o); err != nil {
		return err
	}
	b, settings, err := a.bear(ctx, &o)
	if err != nil {
		return err
	}
	if err := a.startAt(ctx, &b, &o); err != nil {
		return err
	}
	if b.Tree, err = a.Repo.TreeOf(ctx, b.At); err != nil {
		return err
	}
	if o.carry {
		if err := a.carryAlong(ctx, &b); err != nil {
			return err
		}
	}
	b.Own = true
	if b.Created.ID, err = a.HoldFree(ctx, o.goal, func(id session.ID) error { return a.HoldSession("wfs new", id) }); err != nil {
		return err
	}
	if err := a.keepHoldout(b.Created.ID, &o); err != nil {
		return err
	}
	main, err := a.MainRepo(ctx)
	if err != nil {
		return err
	}
	m, err := a.planTree(ctx, o.dir, b.Created.ID, settings.Config.Worktree, main)
	if err != nil {
		return err
	}
	left, err := a.Repo.Dirty(ctx)
	if err != nil {
		return err
	}
	from := a.Repo
	done, h, r, err := a.makeTree(ctx, m, &b, &settings.Config, main)
	if err != nil {
		return a.takeBackTree(context.WithoutCancel(ctx), from, m, err)
	}
	if err := a.Clone.ForgetHalfMade(h.ID); err != nil {
		return err
	}
	if err := a.TrustNow(b.Created.PlanDigest, "session "+string(h.ID)); err != nil {
		return err
	}
	if !o.carry && !o.fork && left > 0 && !a.json {
		a.note("%d uncommitted %s here, and %s not in the new work tree (--carry would take a copy along)", left,
			plural(left, "change stays", "changes stay"), plural(left, "is", "are"))
	}
	a.sayTree(ctx, done)
	r.Note = a.openItems(h, b.Spec, o.spec)
	return a.sayNew(ctx, h, r, nil, o.runs)
}

// carryAlong puts the uncommitted changes of this work tree into checkpoint 0. They stay here as well.
func (a *app) carryAlong(ctx context.Context, b *engine.Birth) error {
	if err := a.Hold("wfs new"); err != nil {
		return err
	}
	file, err := a.guardFile(b.Exclude)
	if err != nil {
		return err
	}
	snap, err := a.Repo.Snapshot(ctx, file)
	if err != nil {
		return err
	}
	if b.At != snap.Head.Commit {
		return &usageError{"--carry takes changes along from HEAD, and this session begins elsewhere", "wfs new without --carry"}
	}
	changes, err := a.Repo.Changes(ctx, snap.HeadTree, snap.Tree)
	if err != nil {
		return err
	}
	for _, c := range changes {
		b.Created.Carried = append(b.Created.Carried, c.Path)
	}
	b.Tree = snap.Tree
	return nil
}

// planTree says where the work tree will be, and writes that down.
func (a *app) planTree(ctx context.Context, typed string, id session.ID, c workflows.Worktree, main *gitstate.Repo) (registry.HalfMade, error) {
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
	m := registry.HalfMade{Session: id, Dir: n.Path, Above: n.Above, Name: n.Name, RunID: fmt.Sprintf("%s-setup-%s", id, a.env.NewID(4))}
	if err := a.Clone.KeepHalfMade(m); err != nil {
		return m, err
	}
	durable.Hit(durable.WorktreeNoted)
	return m, nil
}

func dirRefusal(err error) error {
	if errors.Is(err, gitstate.ErrDirTaken) {
		return &session.Refusal{Code: session.RefuseWorktree, Message: err.Error(), Hint: "wfs new GOAL --worktree --dir ANOTHER"}
	}
	return err
}

// makeTree makes the work tree, provides what git does not bring, and lets the session begin there.
func (a *app) makeTree(ctx context.Context, m registry.HalfMade, b *engine.Birth, config *workflows.Config, main *gitstate.Repo) (gitstate.Provisioned, *engine.Hand, *engine.Relocated, error) {
	var done gitstate.Provisioned
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
	if done, err = main.Provision(ctx, made, config.Worktree.Copy, config.Worktree.Link); err != nil {
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
	var back *gitstate.LeadsBackError
	switch {
	case errors.As(err, &back):
		return &session.Refusal{Code: session.RefuseSetup, Message: err.Error(), Hint: "let worktree: setup in .wfs/config.yaml install it, instead of copy or link"}
	case errors.Is(err, gitstate.ErrCannotLink):
		return &session.Refusal{Code: session.RefuseSetup, Message: err.Error(), Hint: "fix worktree: link in .wfs/config.yaml"}
	}
	return err
}

// maxSetupFiles is how many files that git does not ignore a set-up may make. More than a package's metadata is a directory
// of packages, which .gitignore has to name once and not the session file by file.
const maxSetupFiles = 100

// setUp runs the set-up in a new work tree, and returns the files that it made there and git does not ignore. It returns
// files and no directories: what the agent will write beside them belongs to checkpoints.
func (a *app) setUp(ctx context.Context, m registry.HalfMade, at session.Commit, config *workflows.Config, main *gitstate.Repo) ([]string, error) {
	c := config.Worktree
	if c.Setup.IsZero() {
		return nil, nil
	}
	dir, err := a.Clone.RunDir(m.Session, "setup")
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
	err = w.runSetUp(ctx, "set-up", w.runner(), phases.SetupRequest{Command: c.Setup, Timeout: c.Timeout, Env: config.Env, RunDir: dir, RunID: m.RunID,
		Vars: []string{"WFS_SESSION=" + string(m.Session), "WFS_WORKTREE=" + a.Repo.Root(), "WFS_MAIN_WORKTREE=" + main.Root()}})
	if err != nil {
		return nil, err
	}
	_, left, err := a.Repo.Edited(ctx, at, "")
	if len(left) > maxSetupFiles {
		return nil, &session.Refusal{Code: session.RefuseSetup, Hint: "list them in .gitignore and commit that",
			Message: fmt.Sprintf("the set-up made %d files that git does not ignore: %s", len(left), shortList(left))}
	}
	return left, err
}

// keepProvided writes down what can be had again, for the day when the work tree is removed. left is what the set-up made
// and git does not ignore.
func (a *app) keepProvided(ctx context.Context, m registry.HalfMade, done gitstate.Provisioned, left []string) error {
	p := registry.Provided{Session: m.Session, Dir: m.Dir, Linked: done.Linked, Copied: done.Copied}
	ignored, err := a.Repo.Ignored(ctx)
	if err != nil {
		return err
	}
	p.Stamps = a.Repo.Stamps(slices.DeleteFunc(append(ignored, left...), func(name string) bool {
		n := strings.TrimSuffix(name, "/")
		return slices.Contains(done.Copied, n) || slices.Contains(done.Linked, n)
	}))
	return a.Clone.KeepProvided(a.Repo.Worktree(), p)
}

// takeBackTree removes a work tree whose session did not begin, and returns why it did not.
func (a *app) takeBackTree(ctx context.Context, from *gitstate.Repo, m registry.HalfMade, why error) error {
	a.Use(from, "")
	if errors.Is(why, gitstate.ErrDirTaken) { // what is there is somebody else's
		return errors.Join(dirRefusal(why), a.Clone.ForgetHalfMade(m.Session))
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
func (a *app) sayTree(ctx context.Context, p gitstate.Provisioned) {
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
	if loose, err := a.Repo.Loose(ctx, p.Linked); err == nil && len(loose) > 0 { // a warning, not worth failing for
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
