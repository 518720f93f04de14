package cmd

import "context"

// halfMoved says that somebody began to move this work tree and is gone, "" when that is not so or cannot be known; and
// with which command that comes to its end, "": any will do.
func (a *app) halfMoved(ctx context.Context) (what, completes string) {
	id, err := a.Clone.Claimed(a.Repo.Worktree())
	if err != nil || id == "" {
		return "", ""
	}
	if _, held, err := a.Clone.WorktreeHolder(a.Repo.Worktree()); err != nil || held {
		return "", ""
	}
	v, err := a.View(ctx, id)
	switch {
	case err != nil:
		return "", ""
	case v.Session.Moving != nil:
		return v.Session.Moving.Summary, a.typed(a.Engine.Completes(ctx, id, v.Session.Moving.Turn))
	case v.Session.Deleting != nil:
		return v.Session.Deleting.Summary, ""
	}
	return "", ""
}

// sayHalfMoved tells people so, and returns what they may type next: what is given, or the command that completes it.
func (a *app) sayHalfMoved(ctx context.Context, next []string) []string {
	what, completes := a.halfMoved(ctx)
	if what != "" {
		a.out("a command was interrupted: %s; the next command that changes something completes it first", what)
	}
	return nextOr(completes, next)
}

func nextOr(first string, next []string) []string {
	if first == "" {
		return next
	}
	return []string{first}
}
