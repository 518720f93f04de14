package registry

import (
	"os"

	"github.com/wfs-dev/wfs/session"
)

// Begun reports whether the journal that extends the given ledger tip exists and is not empty.
func (s Session) Begun(tip session.Commit) bool {
	path, err := s.JournalPath(tip)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}
