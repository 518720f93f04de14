package cmd

import "context"

// sayHalfMoved tells people so, and returns what they may type next: what is given, or the command that completes it.
func (a *app) sayHalfMoved(ctx context.Context, next []string) []string {
	what, completes := a.HalfMoved(ctx)
	if what != "" {
		a.out("a command was interrupted: %s; the next command that changes something completes it first", what)
	}
	return a.nextOr(completes, next)
}

// nextOr is a command that comes before what else may be typed next, "" for none.
func (a *app) nextOr(command string, next []string) []string {
	if command == "" {
		return next
	}
	return []string{a.typed(command)}
}
