package registry

import (
	"os"

	"github.com/wfs-dev/wfs/session"
)

// Begun reports whether a session has a journal that extends the given ledger tip. An empty file does not count.
func (s Session) Begun(tip session.Commit) bool {
	path, err := s.JournalPath(tip)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}
