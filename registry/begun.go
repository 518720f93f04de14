package registry

import (
	"os"

	"github.com/wfs-dev/wfs/session"
)

// Begun reports whether there is a journal that extends a session's ledger tip. An empty file is none.
func (s Session) Begun(tip session.Commit) bool {
	path, err := s.JournalPath(tip)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}
