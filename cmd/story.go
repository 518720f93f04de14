package cmd

import (
	"context"
	"errors"

	"github.com/wfs-dev/wfs/gitstate/worktree"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// story is `wfs` without a command. It prints the current session's history and state, why the session has stopped, and
// the next commands. Outside a repository, or without a session, it prints how to begin.
func (a *statusVerb) story(ctx context.Context) error {
	err := a.Open(ctx)
	if errors.Is(err, gitcmd.ErrNotRepository) && !a.json {
		a.out("this directory is not in a git repository")
		a.next([]string{"git init && wfs init", "wfs help"})
		return nil
	}
	if err != nil {
		return err
	}
	id, err := a.Current(ctx)
	if err != nil {
		return err
	}
	if id == "" {
		if err := a.LostLedger(ctx); err != nil {
			return err
		}
		return a.noCurrent(ctx)
	}
	return a.tell(ctx, id, a.Here())
}

// tellOf prints the story of a session, which may be checked out in another work tree.
func (a *statusVerb) tellOf(ctx context.Context, id session.ID) error {
	in, err := a.PlaceOf(ctx, id)
	if err != nil {
		return err
	}
	return a.tell(ctx, id, in)
}

// tell prints a session's story for `wfs`, `wfs status` and `wfs show`. `in` is the work tree that has the session
// checked out, or nil.
func (a *statusVerb) tell(ctx context.Context, id session.ID, in *worktree.Worktree) error {
	v, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	j := a.storyOf(ctx, &v, in)
	if a.json {
		what, completes := a.HalfMoved(ctx)
		j.HalfMoved, j.Next = what, a.nextOr(completes, j.Next)
		return a.answer(j)
	}
	a.print(ctx, &v, &j)
	return nil
}

// storyOf describes a session and its history. `in` is the work tree that has the session checked out, or nil.
func (a *statusVerb) storyOf(ctx context.Context, v *history.View, in *worktree.Worktree) present.Story {
	s, ledger := &v.Session, addJudged(ctx, a.Workspace, v)
	j := present.StoryOf(a.describe(s, in), a.env.Now())
	if end, found := a.Clone.Session(s.ID).Ended(""); found && j.Driver == nil && stillSo(&end, s) {
		j.Failed = &present.Failure{Version: jsonVersion, Error: end.Error, Hint: end.Hint, Exit: end.Exit}
	}
	a.addAutoSave(ctx, &j.Session, s, v.Tip, in)
	j.SpecEdited = a.SpecEdited(ctx, s)
	a.addEdits(ctx, &j.Session, v, in)
	addTests(ctx, a.Workspace, &j.Session, ledger)
	j.Recovery = a.recoveryOf(ctx, &j.Session, in)
	return j
}

// print prints the story of a session.
func (a *statusVerb) print(ctx context.Context, v *history.View, j *present.Story) {
	j.Next = a.sayHalfMoved(ctx, j.Next)
	j.Cost = costOf(ctx, a.Workspace, v)
	a.env.Tell(j)
	sayUnseen(ctx, a.Workspace, j.Of, a.out)
	if !j.Current {
		j.Ways = nil
	}
	if len(j.Ways) == 0 && j.Recovery == nil { // which begin with an empty line
		a.out("")
	}
	a.env.On(&j.Session)
}

// sayHalfMoved prints which operation a killed command left unfinished in this work tree. It returns the command that
// completes the operation. If there is no such operation, it returns `next`.
func (a *statusVerb) sayHalfMoved(ctx context.Context, next []string) []string {
	what, completes := a.HalfMoved(ctx)
	if what != "" {
		a.out("a command was interrupted: %s; the next command that changes something completes it first", what)
	}
	return a.nextOr(completes, next)
}

// nextOr returns `command` as the only next command. If command is "", it returns `next`.
func (a *statusVerb) nextOr(command string, next []string) []string {
	if command == "" {
		return next
	}
	return []string{a.typed(command)}
}

// stillSo reports whether wfs should still show the error with which a session's run ended. It should not if that was a
// usage error, or if something has happened in the session since.
func stillSo(end *registry.Ended, s *session.Session) bool {
	if end.Error == "" || end.Exit == exitUsage || s.Status.Final() {
		return false
	}
	if end.Seq > 0 {
		return end.Seq == s.Seq
	}
	return end.At >= s.UpdatedAt
}
