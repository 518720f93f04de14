// Package backup keeps what is in no checkpoint: rescues, and the auto-saves of a running attempt.
package backup

import (
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/snapshot"
)

// Backups are the rescues and auto-saves of a repository's sessions.
type Backups struct {
	Git      *gitcmd.Git
	Objects  *object.Store
	Refs     *refs.Refs
	Files    *snapshot.Files
	Handover *handover.Handover // knows what other branches have

	auto autoSaves
}
