package backup

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

// Rescues returns the states of a session's rescues, by the names of their refs.
func (r *Backups) Rescues(ctx context.Context, id session.ID) (map[string]State, error) {
	refs, err := r.Refs.RefsBelow(ctx, strings.TrimSuffix(refs.RescuePrefix(id), "/"))
	if err != nil {
		return nil, err
	}
	all := map[string]State{}
	for name, c := range refs {
		if all[name], err = r.State(ctx, c); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// LedgerTrees returns the trees of all commits that a session's ledger reaches. They are kept as long as the session
// exists.
func (r *Backups) LedgerTrees(ctx context.Context, id session.ID) (map[session.Tree]bool, error) {
	out, err := r.Git.Ask(ctx, "log", "--format=%T", refs.LedgerRef(id), "--")
	if err != nil {
		return nil, err
	}
	all := map[session.Tree]bool{}
	for line := range strings.Lines(string(out)) {
		all[session.Tree(strings.TrimSpace(line))] = true
	}
	return all, nil
}

// OnlyIn returns a text that says which content of a rescue exists nowhere else, or "" if all of it also exists
// elsewhere. trees are the trees that are kept in any case, see LedgerTrees.
func (r *Backups) OnlyIn(ctx context.Context, rescue session.Commit, s State, trees map[session.Tree]bool) (string,
	error) {
	var head session.Tree
	if s.Head.Commit != "" {
		var err error
		if head, err = r.Objects.TreeOf(ctx, s.Head.Commit); err != nil {
			return "", err
		}
	}
	switch {
	case s.Raw != "":
		return "it holds the bytes of files that git converts", nil
	case !trees[s.Tree]:
		return "it holds the only copy", nil
	case s.Index != "" && s.Index != s.Tree && s.Index != head:
		return "no other record of what was staged", nil
	}
	return r.onlyReference(ctx, rescue)
}

// onlyReference returns a reason to keep a rescue if some older commits are reachable only from it, otherwise "".
func (r *Backups) onlyReference(ctx context.Context, rescue session.Commit) (string, error) {
	info, err := r.Objects.CommitInfo(ctx, rescue)
	if err != nil {
		return "", err
	}
	own := map[string]bool{string(rescue): true}
	for line := range strings.Lines(info.Body) {
		for _, key := range []string{trailerStateCode, trailerStateIndex} {
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), key); ok {
				own[id] = true
			}
		}
	}
	out, err := r.Git.Ask(ctx, "rev-list", string(rescue), "--not",
		"--exclude="+refs.RefsPrefix+"*/rescue/*",
		"--exclude="+refs.RefsPrefix+"*/auto",
		"--exclude="+refs.OpsPrefix+"*", "--exclude="+refs.DeletedPrefix+"*", "--exclude=refs/stash", "--all")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if !own[strings.TrimSpace(line)] {
			return "it is the only reference to older commits", nil
		}
	}
	return "", nil
}

// The trailers of a state commit: names of its parents, and what asked for an auto-save.
const (
	trailerStateCode  = "Wfs-State-Code: "
	trailerStateIndex = "Wfs-State-Index: "
	trailerTrigger    = "Wfs-Trigger: "
)
