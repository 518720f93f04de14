package checkout

import (
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/raw"
	"github.com/wfs-dev/wfs/internal/durable"
)

// writeOut syncs the files that a move wrote, since git does not. Otherwise a power cut after the commit of the move
// could leave empty files, which the next checkpoint would regard as edits. They are
// durable when the ledger's ref is synced afterwards (see durable.WriteOut).
func (r *Mover) writeOut(changes []object.TreeChange, raw []raw.File) error {
	files := object.NewFiles(r.Git.Root, changes)
	for _, f := range raw {
		files = append(files, filepath.Join(r.Git.Root, filepath.FromSlash(f.Path)))
	}
	return durable.WriteOut(files)
}
