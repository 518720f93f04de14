// Package worktrees makes and removes the linked work trees of sessions. It also completes what a killed command has
// begun to make or remove.
package worktrees

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
	"github.com/wfs-dev/wfs/workspace/rooms"
)

// Trees makes and removes linked work trees. It acts from the work tree that the command was typed in.
type Trees struct {
	*workspace.Workspace
	Runner   func() *agent.Runner // makes a runner for the set-up of a new work tree
	Progress func() (done func()) // displays the progress of set-up and gates until the returned function is called
}

// Plan chooses the directory of a new session's work tree, and records it in a note before anything is made. If the
// command is killed, the next one finds the note.
func (t *Trees) Plan(ctx context.Context, typed string, id session.ID, c workflows.Worktree,
	main *gitstate.Repo) (registry.HalfMade, error) {
	dir, base := typed, t.Env.Dir
	if dir == "" {
		dir, base = filepath.FromSlash(c.ExpandDir(filepath.Base(main.Root()), string(id))), main.Root()
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(base, dir)
	}
	// a lock, because two processes at once would choose the same name for git's entry
	release, err := t.Repo.HoldPlans(ctx)
	if err != nil {
		return registry.HalfMade{}, err
	}
	defer release()
	var taken []string
	half, _ := t.Clone.HalfMade() // an error is ignored: unreadable notes are reported elsewhere
	for _, m := range half {
		taken = append(taken, m.Name)
	}
	n, err := t.Repo.PlanWorktree(ctx, dir, taken...)
	if err != nil {
		return registry.HalfMade{}, dirRefusal(err)
	}
	m := registry.HalfMade{Session: id, Dir: n.Path, Above: n.Above, Name: n.Name,
		RunID: fmt.Sprintf("%s-setup-%s", id, t.Env.NewID(4)),
		Trash: registry.TrashOf(n.Path, t.Env.NewID(4))}
	if err := t.Clone.KeepHalfMade(m); err != nil {
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

// Make makes the planned work tree, adds files that git does not check out (copies, links and the results of the
// set-up), and creates the session in it.
func (t *Trees) Make(ctx context.Context, m registry.HalfMade, b *transition.Birth, config *workflows.Config,
	main *gitstate.Repo) (room.Provisioned, *engine.Hand, *transition.Relocated, error) {
	var done room.Provisioned
	made, err := t.Repo.AddWorktree(ctx, placeOfHalfMade(m), b.At, b.Tree)
	if err != nil {
		return done, nil, nil, err
	}
	t.Use(made, m.Session)
	l, err := t.LockTree(ctx, made, t.Holder("wfs new"))
	if err != nil {
		return done, nil, nil, err
	}
	t.KeepLock(l)
	if done, err = main.Rooms.Provision(ctx, made.Root(), config.Worktree.Copy, config.Worktree.Link); err != nil {
		return done, nil, nil, provisionRefusal(err)
	}
	left, err := t.setUp(ctx, m, b.At, config, main)
	if err != nil {
		return done, nil, nil, err
	}
	rules, guard := codec.SplitGuard(b.Exclude)
	b.Exclude = codec.WithGuard(hand.AddExcludes(rules, slices.Concat(done.Linked, done.Copied, left)), guard)
	if err := t.keepProvided(ctx, m, done, left); err != nil {
		return done, nil, nil, err
	}
	durable.Hit(durable.WorktreeSetUp)
	shown := t.Progress()
	h, r, err := t.Engine.New(ctx, *b)
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

// maxSetupFiles is the maximum number of files that a set-up may make and that git does not ignore. More of them are
// probably a directory of packages, which should be in .gitignore instead of being listed file by file.
const maxSetupFiles = 100

// setUp runs the set-up in a new work tree. It returns the files that the set-up made and git does not ignore:
// checkpoints will leave them out. It returns only directories that tools fill, because in others checkpoints must have
// files that the agent adds.
func (t *Trees) setUp(ctx context.Context, m registry.HalfMade, at session.Commit, config *workflows.Config,
	main *gitstate.Repo) ([]string, error) {
	c := config.Worktree
	if c.Setup.IsZero() {
		return nil, nil
	}
	dir, err := t.Clone.Session(m.Session).RunDir("setup")
	if err != nil {
		return nil, err
	}
	if err := durable.MkdirAll(dir); err != nil {
		return nil, err
	}
	shown := t.Progress()
	defer shown()
	err = rooms.SetUp(ctx, "set-up", t.Runner(),
		agent.SetupRequest{Command: c.Setup, Timeout: c.Timeout, Env: config.Env, RunDir: dir, RunID: m.RunID,
			Vars: []string{"WFS_SESSION=" + string(m.Session), "WFS_WORKTREE=" + t.Repo.Root(),
				"WFS_MAIN_WORKTREE=" + main.Root()}})
	if err != nil {
		return nil, err
	}
	_, left, err := t.Repo.Edited(ctx, at, "")
	if err == nil {
		left, err = t.Repo.Fold(ctx, left)
	}
	if len(left) > maxSetupFiles {
		return nil, session.Refuse(session.RefuseSetup, "list them in .gitignore and commit that",
			"the set-up made %d files that git does not ignore: %s", len(left), safetext.First(left, 5, " "))
	}
	return left, err
}

// keepProvided records which files of the work tree can be made again, so that a later removal need not keep them.
// `left` has the files that the set-up made and that git does not ignore.
func (t *Trees) keepProvided(ctx context.Context, m registry.HalfMade, done room.Provisioned, left []string) error {
	p := registry.Provided{Session: m.Session, Dir: m.Dir, Linked: done.Linked, Copied: done.Copied}
	ignored, err := t.Repo.Ignored(ctx)
	if err != nil {
		return err
	}
	p.Stamps = t.Repo.Stamps(slices.DeleteFunc(append(ignored, left...), func(name string) bool {
		n := strings.TrimSuffix(name, "/")
		return slices.Contains(done.Copied, n) || slices.Contains(done.Linked, n)
	}))
	return t.Clone.Worktree(t.Repo.Worktree()).KeepProvided(p)
}

// TakeBack removes a new work tree whose session could not be created because of the error `why`. It returns that
// error, with details about the removal if necessary.
func (t *Trees) TakeBack(ctx context.Context, from *gitstate.Repo, m registry.HalfMade, why error) error {
	t.Use(from, "")
	if errors.Is(why, worktree.ErrDirTaken) { // another process has made the directory, so it stays
		return errors.Join(dirRefusal(why), t.Clone.Session(m.Session).ForgetHalfMade())
	}
	if tip, err := from.Ref(ctx, session.LedgerOf(m.Session)); err != nil || tip != "" {
		return errors.Join(why, err) // the session was created after all: the next command completes it
	}
	kept, err := t.clear(ctx, m)
	if err != nil {
		return fmt.Errorf("%w; and the new work tree could not be removed: %v", why, err)
	}
	if errors.Is(why, context.Canceled) && kept == "" {
		return fmt.Errorf("interrupted, and the new work tree was removed: %w", why)
	}
	return why
}
