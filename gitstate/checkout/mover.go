// Package checkout moves a work tree from a snapshot to a tree, and back: it plans a move, lists the files that are in
// the way, and moves the files.
package checkout

import (
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/raw"
)

// Mover moves the files of a work tree. It does not change HEAD, the index or the refs.
type Mover struct {
	Git      *gitcmd.Git
	Objects  *object.Store
	RawBytes *raw.Files
}

// New returns a Mover for a work tree.
func New(git *gitcmd.Git, objects *object.Store, raw *raw.Files) *Mover {
	return &Mover{Git: git, Objects: objects, RawBytes: raw}
}
