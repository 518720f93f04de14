package gitstate

import (
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
)

// writeOut brings the files that a move made to the disk, for git does not: once the move has become true, a power cut
// must not leave empty ones, which the next checkpoint would take for edits. The ledger, which is synced later, makes
// that complete.
func (r *Repo) writeOut(changes []treeChange, raw []rawFile) error {
	var files []string
	for _, c := range changes {
		if c.newMode != modeNone && c.newMode != modeLink && c.newMode != modeGitlink {
			files = append(files, filepath.Join(r.root, filepath.FromSlash(c.Path)))
		}
	}
	for _, f := range raw {
		files = append(files, filepath.Join(r.root, filepath.FromSlash(f.path)))
	}
	return durable.WriteOut(files)
}

// newFiles lists the files of the work tree that an index has and the one before it has not, or with another content.
func (r *Repo) newFiles(before, now *index) []string {
	var files []string
	for _, e := range newEntries(before, now) {
		files = append(files, filepath.Join(r.root, filepath.FromSlash(string(e.name))))
	}
	return files
}
