package transition

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Free refuses a branch that is checked out in another work tree: a commit in either one would undo the commits of the
// other.
func (e *Kit) Free(ctx context.Context, branch string) error {
	other, err := e.Git.ElsewhereOn(ctx, branch)
	if err == nil && other != "" {
		err = &session.Refusal{Code: session.RefuseWorktree,
			Message: fmt.Sprintf("%s is checked out in another work tree: %s", safetext.ShortRef(branch), other),
			Hint:    "cd " + other}
	}
	return err
}

// SwitchName returns the argument of `wfs switch` for a branch: its short name, or a longer one if `wfs switch` would
// take the short name for something else.
func (e *Kit) SwitchName(ctx context.Context, ref string) string {
	name := safetext.ShortRef(ref)
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

// Blocked returns an existing ref that prevents git from creating the given one, "" if there is none. Git stores refs
// like files, so refs named a and a/b cannot both exist.
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

// MayMake refuses a branch that git cannot create because of an existing one. `hint` is the command that the refusal
// suggests; with "" it suggests to rename the existing branch.
func (e *Kit) MayMake(ctx context.Context, ref, hint string) error {
	other, err := e.Blocked(ctx, ref)
	if err != nil || other == "" {
		return err
	}
	if hint == "" {
		hint = fmt.Sprintf("git branch -m %s another-name", safetext.ShortRef(other))
	}
	return &session.Refusal{Code: session.RefuseName,
		Message: fmt.Sprintf("git cannot have a branch %s beside a branch %s", safetext.ShortRef(ref),
			safetext.ShortRef(other)), Hint: hint}
}

// mayMakeAll does the same as MayMake for all branches that ref moves create.
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

// Completes returns the command that completes a half-done move and does nothing else, because it goes to the move's
// own target.
func (e *Kit) Completes(ctx context.Context, id session.ID, t session.Turn) string {
	if strings.HasPrefix(t.HeadNew, "refs/heads/") {
		return "wfs switch " + e.SwitchName(ctx, t.HeadNew)
	}
	return "wfs resume " + string(id)
}
