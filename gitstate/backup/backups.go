// Package backup saves files that are in no checkpoint: as rescues, before wfs overwrites them, and as auto-saves
// during an attempt.
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
	"github.com/wfs-dev/wfs/gitstate/snapshot"
	"github.com/wfs-dev/wfs/session"
)

// Backups reads and writes the rescues and auto-saves of a repository's sessions.
type Backups struct {
	Git      *gitcmd.Git
	Objects  *object.Store
	Refs     *refs.Refs
	Files    *snapshot.Files
	Handover *handover.Handover // tells whether a branch has the changes of a rescue
}

// Auto returns a session's newest auto-save, nil if there is none. It may be older than the present checkpoint; the
// caller checks that.
func (r *Backups) Auto(ctx context.Context, id session.ID) (*session.AutoSave, error) {
	return r.Backup(ctx, refs.AutoRef(id))
}

// Backup returns the content of the auto-save or rescue at a ref, nil if there is none.
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
		At: info.At, Reason: session.Reason{Trigger: state.Trigger, Why: state.Why},
		Changes: state.Changes, Changed: state.Changed, HeldOut: state.HeldOut, Skipped: state.Skipped}
	if len(info.Parents) > 1 {
		a.Ledger, a.Code = info.Parents[0], info.Parents[1]
	}
	return a, nil
}

// keepAuto keeps an auto-save as a rescue: it adds a ref for it, unless a rescue with this commit exists. It returns
// the name of the ref.
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
