package checkout

import (
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/raw"
	"github.com/wfs-dev/wfs/internal/durable"
)

// writeOut brings the files that a move made to the disk, for git does not: once the move has become true, a power cut
// must not leave empty ones, which the next checkpoint would take for edits. The ledger, which is synced later, makes
// that complete.
func (r *Mover) writeOut(changes []object.TreeChange, raw []raw.File) error {
	files := object.NewFiles(r.Git.Root, changes)
	for _, f := range raw {
		files = append(files, filepath.Join(r.Git.Root, filepath.FromSlash(f.Path)))
	}
	return durable.WriteOut(files)
}
