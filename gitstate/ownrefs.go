package gitstate

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// OwnRefs are the refs of one session: its branch and what is below refs/wfs/<id>, but for rescues that were made while
// HEAD was on a branch of the user's: those hold the user's own uncommitted changes.
func (r *Repo) OwnRefs(ctx context.Context, id session.ID) (map[string]session.Commit, error) {
	refs, err := r.RefsBelow(ctx, refsPrefix+string(id))
	if err != nil {
		return nil, err
	}
	for name, c := range refs {
		if !strings.HasPrefix(name, RescuePrefix(id)) {
			continue
		}
		state, err := r.State(ctx, c)
		if err != nil {
			return nil, err
		}
		if on := state.Head.Ref; on != "" && !strings.HasPrefix(on, branchPrefix) {
			delete(refs, name)
		}
	}
	tip, err := r.Ref(ctx, BranchRef(id))
	if err == nil && tip != "" {
		refs[BranchRef(id)] = tip
	}
	return refs, err
}

// RefsBelow are the refs below a directory ("refs/wfs-deleted/auth") by their full names.
func (r *Repo) RefsBelow(ctx context.Context, dir string) (map[string]session.Commit, error) {
	return r.refs(ctx, dir, func(string) bool { return true })
}
