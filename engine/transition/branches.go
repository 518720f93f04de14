package transition

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Free refuses a branch that another work tree has checked out: what one of them commits would be taken back by
// the next commit of the other.
func (e *Kit) Free(ctx context.Context, branch string) error {
	other, err := e.Git.ElsewhereOn(ctx, branch)
	if err == nil && other != "" {
		err = &session.Refusal{Code: session.RefuseWorktree,
			Message: fmt.Sprintf("%s is checked out in another work tree: %s", session.ShortRef(branch), other),
			Hint:    "cd " + other}
	}
	return err
}

// SwitchName is what to type after `wfs switch` for a branch: its short name, or more of it when the short one means
// something else there.
func (e *Kit) SwitchName(ctx context.Context, ref string) string {
	name := session.ShortRef(ref)
	if id, ok := strings.CutPrefix(ref, session.BranchPrefix); ok {
		return id
	}
	if name == "-" || strings.HasPrefix(name, "heads/") || strings.HasPrefix(name, "refs/") {
		return ref
	}
	if all, err := e.Git.Sessions(ctx); err != nil || all[session.Exactly(name)] != "" {
		return "heads/" + name
	}
	return name
}

// Blocked returns the ref that keeps another one from being made because git knows both as files of one directory, ""
// for none: nothing can be called a when there is a/b, or a/b when there is a.
func (e *Kit) Blocked(ctx context.Context, ref string) (string, error) {
	for i := len("refs/heads/"); i < len(ref); i++ {
		if ref[i] != '/' {
			continue
		}
		if tip, err := e.Git.Ref(ctx, ref[:i]); err != nil || tip != "" {
			return ref[:i], err
		}
	}
	below, err := e.Git.RefsBelow(ctx, ref)
	delete(below, ref)
	if len(below) == 0 {
		return "", err
	}
	return slices.Min(slices.Collect(maps.Keys(below))), nil
}

// MayMake refuses a branch that git cannot make beside another one. hint is what to do about it, "": rename the other.
func (e *Kit) MayMake(ctx context.Context, ref, hint string) error {
	other, err := e.Blocked(ctx, ref)
	if err != nil || other == "" {
		return err
	}
	if hint == "" {
		hint = fmt.Sprintf("git branch -m %s another-name", session.ShortRef(other))
	}
	return &session.Refusal{Code: session.RefuseName,
		Message: fmt.Sprintf("git cannot have a branch %s beside a branch %s", session.ShortRef(ref),
			session.ShortRef(other)), Hint: hint}
}

// mayMakeAll is mayMake for what moves make.
func (e *Kit) mayMakeAll(ctx context.Context, moves []session.RefMove) error {
	for _, m := range moves {
		if m.Old != "" || !strings.HasPrefix(m.Ref, "refs/heads/") {
			continue
		}
		if err := e.MayMake(ctx, m.Ref, ""); err != nil {
			return err
		}
	}
	return nil
}

// Completes is the command that brings a move to its end, and does nothing else: it goes where the move goes.
func (e *Kit) Completes(ctx context.Context, id session.ID, t session.Turn) string {
	if strings.HasPrefix(t.HeadNew, "refs/heads/") {
		return "wfs switch " + e.SwitchName(ctx, t.HeadNew)
	}
	return "wfs resume " + string(id)
}
