package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

type removedJSON struct {
	Version   int        `json:"version"`
	Session   session.ID `json:"session"`
	Removed   string     `json:"removed"`
	Saved     int        `json:"saved_checkpoint,omitempty"`
	Rescued   string     `json:"rescued,omitempty"`
	Discarded []string   `json:"discarded,omitempty"`
	Kept      string     `json:"kept,omitempty"`   // where all of it is, when somebody worked there meanwhile
	Parked    []string   `json:"parked,omitempty"` // rescues of what was left behind there on branches
}

// discards is what may go for good.
type discards struct{ ignored, unsaved bool }

func (d *discards) flags(f *pflag.FlagSet) {
	f.BoolVar(&d.ignored, "discard-ignored", false,
		"with --worktree: delete ignored files as well, which no checkpoint holds")
	f.BoolVar(&d.unsaved, "discard-unsaved", false,
		"with --worktree: delete edits of .wfs and submodules with work in them as well")
}

// refusal says what would be lost and may not go, nil for nothing. done is what was done before.
func (d discards) refusal(l lost, id session.ID, dir, done string) error {
	hint, what := "look at them, then wfs delete --worktree "+string(id), ""
	if len(l.Ignored) > 0 {
		hint += " --discard-ignored"
	}
	if len(l.Unsaved) > 0 {
		hint += " --discard-unsaved"
	}
	if len(l.Ignored) > 0 && !d.ignored {
		what = "what git ignores in " + dir + " would be lost: " + shortList(l.Ignored)
	}
	if len(l.Unsaved) > 0 && !d.unsaved {
		if what != "" {
			what += "; "
		}
		what += "what no checkpoint can hold of " + dir + " would be lost: " + shortList(l.Unsaved)
	}
	if what == "" {
		return nil
	}
	return session.Refuse(session.RefuseInTheWay, hint, "%s%s", done, what)
}

func (a *app) removeTree(ctx context.Context, name string, discard discards) error {
	if err := a.OpenWriter(ctx); err != nil {
		return err
	}
	a.sweep(ctx, "wfs delete --worktree")
	id, err := a.Resolve(ctx, name)
	if err != nil {
		return err
	}
	t, err := a.Belonging(ctx, id)
	if err != nil {
		return err
	}
	if err := a.mayRemove(ctx, id, t); err != nil {
		return err
	}
	here := a.Repo
	if err := a.GoTo(ctx, t.Path, id); err != nil {
		return err
	}
	if err := a.Begin(ctx, "wfs delete --worktree", true); err != nil {
		return err
	}
	a.Away = "" // what is said from here on is to be typed elsewhere
	h, err := a.HoldAndTake(ctx, "wfs delete --worktree", id)
	if err != nil {
		return err
	}
	if alive := a.Engine.Works.Alive(id, h.S.Started); h.S.Started != "" && len(alive) > 0 {
		return session.Refuse(session.RefuseWorktree, "end them, then type it again",
			"processes of its last run are still alive there: %s", engine.Named(alive))
	}
	j := removedJSON{Version: jsonVersion, Session: id, Removed: t.Path}
	seen, err := a.wouldLose(ctx, here, id, t.Path)
	if err != nil {
		return err
	}
	if err := discard.refusal(seen, id, t.Path, "nothing was removed: "); err != nil {
		return err
	}
	if err := saveEdits(ctx, h, &j); err != nil {
		return err
	}
	m := registry.HalfMade{Session: id, Dir: t.Path, Above: filepath.Dir(t.Path),
		Name:  strings.TrimSuffix(t.ID, "@linked"),
		Trash: registry.TrashOf(t.Path, a.env.NewID(4))}
	var now lost // that took its time, and somebody may be at work there
	if j.Rescued, now, err = a.keepTree(ctx, a.Repo, here, &m, "removing the work tree of "+string(id)); err != nil {
		return err
	}
	if err := discard.refusal(now, id, t.Path, "it is in use, and was not removed: "); err != nil {
		return err
	}
	work := a.Repo.Worktree()
	a.Repo, a.Engine.Store = here, here
	if j.Kept, err = a.removeHalfMade(context.WithoutCancel(ctx), m); err != nil {
		return err
	}
	if j.Kept == "" {
		j.Discarded = now.all()
	}
	if err := a.Clone.Worktree(work).ForgetProvided(); err != nil {
		return err
	}
	j.Parked = a.strandedWith(ctx, work)
	return a.sayRemoved(ctx, h, j)
}

// mayRemove refuses work trees that are not to be removed, by what is known of them from outside.
func (a *app) mayRemove(ctx context.Context, id session.ID, t *worktree.Worktree) error {
	main, err := a.Repo.WorktreePath(ctx, "main")
	switch {
	case err != nil:
		return err
	case t.ID == "main":
		return session.Refuse(session.RefuseWorktree, "wfs switch -",
			"%s is checked out in the main work tree, which is not removed", id)
	case t.ID == a.Repo.Worktree():
		return session.Refuse(session.RefuseWorktree, fmt.Sprintf("cd %s && wfs delete --worktree %s", main, id),
			"this is the work tree of %s: it is removed from another one", id)
	case t.Gone && !t.Locked:
		return session.Refuse(session.RefuseWorktree, "git worktree prune; if it was moved: git worktree repair NEW-PATH",
			"the work tree of %s is gone already: %s", id, t.Path)
	case t.Locked:
		why := ""
		if t.Why != "" {
			why = ": " + t.Why
		}
		return session.Refuse(session.RefuseWorktree, "git worktree unlock "+t.Path,
			"git keeps the work tree of %s locked%s", id, why)
	}
	if err := worktree.NotMounted(t.Path); err != nil {
		return err
	}
	other, err := a.Repo.WorktreeIn(ctx, t.Path)
	if err != nil || other == nil {
		return err
	}
	hint := "git worktree remove " + other.Path
	if its, ok := strings.CutPrefix(other.Branch, session.BranchPrefix); ok {
		hint = "wfs delete --worktree " + its
	}
	return session.Refuse(session.RefuseWorktree, hint, "another work tree lies in that of %s: %s", id, other.Path)
}

// wouldLose lists what is nowhere but in the work tree. here is the one where the command was typed.
func (a *app) wouldLose(ctx context.Context, here *gitstate.Repo, id session.ID, dir string) (lost, error) {
	exclude := a.Clone.Session(id).ExcludeFile()
	snap, err := a.Repo.Snapshot(ctx, exclude)
	if err != nil {
		return lost{}, err
	}
	return a.lostWith(ctx, a.Repo, here, id, dir, exclude, snap)
}

// saveEdits makes a checkpoint of what is in the work tree, if the session can have one.
func saveEdits(ctx context.Context, h *engine.Hand, j *removedJSON) error {
	saved, err := h.Save(ctx, fmt.Sprintf("edits of %s, kept when its work tree was removed", h.ID))
	if err == nil && saved != nil {
		j.Saved = saved.Number
	}
	return err
}

func (a *app) sayRemoved(ctx context.Context, h *engine.Hand, j removedJSON) error {
	if a.json {
		return a.answer(j)
	}
	if j.Saved > 0 {
		a.out("its edits are kept: checkpoint %d", j.Saved)
	}
	if j.Rescued != "" {
		a.out("%s is saved in %s", wasThere, j.Rescued)
		sayRescue(ctx, a.Repo, j.Rescued, a.out)
	}
	a.out("removed %s; %s stays, with its branch and its checkpoints", j.Removed, h.ID)
	for _, ref := range j.Parked {
		for _, line := range a.parkedLines(ctx, ref) {
			a.out("%s", line)
		}
	}
	if !h.S.Status.Final() {
		a.next([]string{"wfs resume " + string(h.ID), fmt.Sprintf("git worktree add %s wfs/%s", j.Removed, h.ID)})
	}
	return nil
}
