package worktrees

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

const removeCommand = "wfs delete --worktree"

// Removed describes a work tree that was removed, and what was saved of it.
type Removed struct {
	Session   session.ID `json:"session"`
	Removed   string     `json:"removed"`
	Saved     int        `json:"saved_checkpoint,omitempty"`
	Rescued   string     `json:"rescued,omitempty"`
	Discarded []string   `json:"discarded,omitempty"`
	// where the work tree is kept, if another process changed it during the removal
	Kept string `json:"kept,omitempty"`

	Hand *engine.Hand `json:"-"`
	Tree string       `json:"-"` // git's id of the work tree
}

// Discards says which files of a removed work tree may be lost, as the user has allowed: files that git ignores, and
// files that cannot be saved.
type Discards struct{ Ignored, Unsaved bool }

// refusal returns a refusal if files would be lost that the user has not allowed to lose, nil otherwise. `done` says in
// the message what was done before.
func (d Discards) refusal(l lost, id session.ID, dir, done string) error {
	hint, what := "look at them, then "+removeCommand+" "+string(id), ""
	if len(l.Ignored) > 0 {
		hint += " --discard-ignored"
	}
	if len(l.Unsaved) > 0 {
		hint += " --discard-unsaved"
	}
	if len(l.Ignored) > 0 && !d.Ignored {
		what = "what git ignores in " + dir + " would be lost: " + safetext.First(l.Ignored, 5, " ")
	}
	if len(l.Unsaved) > 0 && !d.Unsaved {
		if what != "" {
			what += "; "
		}
		what += "what no checkpoint can hold of " + dir + " would be lost: " + safetext.First(l.Unsaved, 5, " ")
	}
	if what == "" {
		return nil
	}
	return session.Refuse(session.RefuseInTheWay, hint, "%s%s", done, what)
}

// Remove removes the work tree of a session. Before that, it saves the edits in a checkpoint or a rescue.
func (t *Trees) Remove(ctx context.Context, name string, may Discards) (*Removed, error) {
	here, r, err := t.enterRemoved(ctx, name)
	if err != nil {
		return nil, err
	}
	id, dir := r.Session, r.Removed
	seen, err := t.wouldLose(ctx, here, id, dir)
	if err == nil {
		err = may.refusal(seen, id, dir, "nothing was removed: ")
	}
	if err != nil {
		return nil, err
	}
	saved, err := r.Hand.Save(ctx, fmt.Sprintf("edits of %s, kept when its work tree was removed", id))
	if err != nil {
		return nil, err
	}
	if saved != nil {
		r.Saved = saved.Number
	}
	m := registry.HalfMade{Session: id, Dir: dir, Above: filepath.Dir(dir), Name: strings.TrimSuffix(r.Tree, "@linked"),
		Trash: registry.TrashOf(dir, t.Env.NewID(4))}
	var now lost // examined again: the checkpoint took time, in which another process may have changed files
	if r.Rescued, now, err = t.keep(ctx, t.Repo, here, &m, "removing the work tree of "+string(id)); err != nil {
		return nil, err
	}
	if err := may.refusal(now, id, dir, "it is in use, and was not removed: "); err != nil {
		return nil, err
	}
	t.Act(here)
	if r.Kept, err = t.remove(context.WithoutCancel(ctx), m); err != nil {
		return nil, err
	}
	if r.Kept == "" {
		r.Discarded = now.all()
	}
	return r, t.Clone.Worktree(r.Tree).ForgetProvided()
}

// enterRemoved opens the session whose work tree is to be removed, in that work tree. `here` is the work tree where the
// command was typed.
func (t *Trees) enterRemoved(ctx context.Context, name string) (here *gitstate.Repo, r *Removed, err error) {
	if err := t.OpenWriter(ctx); err != nil {
		return nil, nil, err
	}
	t.Sweep(ctx, removeCommand)
	id, err := t.Resolve(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	tree, err := t.Belonging(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if err := t.mayRemove(ctx, id, tree); err != nil {
		return nil, nil, err
	}
	here = t.Repo
	if err := t.GoTo(ctx, tree.Path, id); err != nil {
		return nil, nil, err
	}
	if err := t.Begin(ctx, removeCommand, true); err != nil {
		return nil, nil, err
	}
	t.Away = "" // commands in later messages are to be typed elsewhere
	h, err := t.HoldAndTake(ctx, removeCommand, id)
	if err != nil {
		return nil, nil, err
	}
	if alive := t.Engine.Works.Alive(id, h.S.Started); h.S.Started != "" && len(alive) > 0 {
		return nil, nil, session.Refuse(session.RefuseWorktree, "end them, then type it again",
			"processes of its last run are still alive there: %s", decide.Named(alive))
	}
	return here, &Removed{Session: id, Removed: tree.Path, Hand: h, Tree: tree.ID}, nil
}

// mayRemove refuses to remove the main work tree, the current one, and others that must stay. It does not open the work
// tree.
func (t *Trees) mayRemove(ctx context.Context, id session.ID, tree *worktree.Worktree) error {
	main, err := t.Repo.WorktreePath(ctx, "main")
	switch {
	case err != nil:
		return err
	case tree.ID == "main":
		return session.Refuse(session.RefuseWorktree, "wfs switch -",
			"%s is checked out in the main work tree, which is not removed", id)
	case tree.ID == t.Repo.Worktree():
		return session.Refuse(session.RefuseWorktree, fmt.Sprintf("cd %s && wfs delete --worktree %s", main, id),
			"this is the work tree of %s: it is removed from another one", id)
	case tree.Locked:
		return session.Refuse(session.RefuseWorktree, "git worktree unlock "+tree.Path,
			"%s", strings.TrimSuffix("git keeps the work tree of "+string(id)+" locked: "+tree.Why, ": "))
	case tree.Gone:
		return session.Refuse(session.RefuseWorktree, "git worktree prune; if it was moved: git worktree repair NEW-PATH",
			"the work tree of %s is gone already: %s", id, tree.Path)
	}
	if err := worktree.NotMounted(tree.Path); err != nil {
		return err
	}
	other, err := t.Repo.WorktreeIn(ctx, tree.Path)
	if err != nil || other == nil {
		return err
	}
	hint := "git worktree remove " + other.Path
	if its, ok := strings.CutPrefix(other.Branch, session.BranchPrefix); ok {
		hint = removeCommand + " " + its
	}
	return session.Refuse(session.RefuseWorktree, hint, "another work tree lies in that of %s: %s", id, other.Path)
}

// wouldLose returns the files that exist only in the work tree and would be lost with it. `here` is the work tree where
// the command was typed.
func (t *Trees) wouldLose(ctx context.Context, here *gitstate.Repo, id session.ID, dir string) (lost, error) {
	exclude := t.Clone.Session(id).ExcludeFile()
	snap, err := t.Repo.Snapshot(ctx, exclude)
	if err != nil {
		return lost{}, err
	}
	return t.lostWith(ctx, t.Repo, here, id, dir, exclude, snap)
}
