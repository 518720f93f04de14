package gitstate

import (
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
)

// writeOut brings the files that a move made to the disk, for git does not: once the move has become true, a power cut
// must not leave empty ones, which the next checkpoint would take for edits. The ledger, which is synced later, makes
// that complete.
func (r *Repo) writeOut(changes []treeChange, raw []rawFile) error {
	files := r.newFiles(changes)
	for _, f := range raw {
		files = append(files, filepath.Join(r.Git.Root, filepath.FromSlash(f.path)))
	}
	return durable.WriteOut(files)
}

// newFiles are the files of the work tree that changes have made or given another content.
func (r *Repo) newFiles(changes []treeChange) (files []string) {
	for _, c := range changes {
		if c.newMode != modeNone && c.newMode != modeLink && c.newMode != modeGitlink {
			files = append(files, filepath.Join(r.Git.Root, filepath.FromSlash(c.Path)))
		}
	}
	return files
}
