// Package backup keeps files that are in no checkpoint: rescues, and the auto-saves of a running attempt.
package backup

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

// Backups are the rescues and auto-saves of a repository's sessions.
type Backups struct {
	Git      *gitcmd.Git
	Objects  *object.Store
	Refs     *refs.Refs
	Handover *handover.Handover // finds the changes that other branches have
}

// Auto returns a session's newest auto-save, nil if there is none. The caller decides whether it is stale.
func (r *Backups) Auto(ctx context.Context, id session.ID) (*session.AutoSave, error) {
	return r.Backup(ctx, refs.AutoRef(id))
}

// Backup returns the state commit of a ref, an auto-save or a rescue, nil if there is none.
func (r *Backups) Backup(ctx context.Context, ref string) (*session.AutoSave, error) {
	tip, err := r.Refs.Ref(ctx, ref)
	if err != nil || tip == "" {
		return nil, err
	}
	info, err := r.Objects.CommitInfo(ctx, tip)
	if err != nil {
		return nil, err
	}
	state, err := r.State(ctx, tip)
	if err != nil {
		return nil, err
	}
	a := &session.AutoSave{Commit: tip, Tree: state.Tree, Index: state.Index, Raw: state.Raw, Head: state.Head,
		At: info.At, Why: state.Why,
		Changes: state.Changes, Changed: state.Changed, HeldOut: state.HeldOut, Skipped: state.Skipped}
	if len(info.Parents) > 1 {
		a.Ledger, a.Code = info.Parents[0], info.Parents[1]
	}
	return a, nil
}

// keepAuto adds a ref to an auto-save, among the rescues, and returns its name.
func (r *Backups) keepAuto(ctx context.Context, id session.ID, auto session.Commit) (string, error) {
	for {
		own, err := r.refsOf(ctx, id)
		if err != nil {
			return "", err
		}
		for name, c := range own {
			if c == auto && strings.HasPrefix(name, refs.RescuePrefix(id)) {
				return name, nil
			}
		}
		ref := refs.RescuePrefix(id) + strconv.Itoa(nextRescue(own, refs.RescuePrefix(id)))
		err = r.Refs.Move(ctx, session.RefMove{Ref: ref, New: auto}, "wfs: backup of a running attempt")
		if errors.Is(err, refs.ErrMoved) {
			continue
		}
		return ref, err
	}
}
