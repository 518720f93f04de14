package backup

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

// OwnRefs returns the refs that belong to one session: its branch and the refs below refs/wfs/<id>. It omits rescues
// that were made while HEAD was on one of the user's branches, because these have the user's own uncommitted changes.
func (r *Backups) OwnRefs(ctx context.Context, id session.ID) (map[string]session.Commit, error) {
	own, err := r.Refs.RefsBelow(ctx, refs.RefsPrefix+string(id))
	if err != nil {
		return nil, err
	}
	for name, c := range own {
		if !strings.HasPrefix(name, refs.RescuePrefix(id)) {
			continue
		}
		state, err := r.State(ctx, c)
		if err != nil {
			return nil, err
		}
		if on := state.Head.Ref; on != "" && !strings.HasPrefix(on, refs.BranchPrefix) {
			delete(own, name)
		}
	}
	tip, err := r.Refs.Ref(ctx, refs.BranchRef(id))
	if err == nil && tip != "" {
		own[refs.BranchRef(id)] = tip
	}
	return own, err
}
