package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Stamp returns a text that changes with a session's state: with its journal, its requests, the process that drives
// it, and what its agent prints. It asks only for the sizes and times of files, so that it may be called several times
// a second. It is "" if the clone has nothing of the session.
func (c *Clone) Stamp(id session.ID) string {
	dir, err := c.Session(id).dir()
	if err != nil {
		return ""
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	if runs, err := os.ReadDir(filepath.Join(dir, runsName)); err == nil && len(runs) > 0 {
		newest, _ := os.ReadDir(filepath.Join(dir, runsName, runs[len(runs)-1].Name())) // it may have been removed
		entries = append(entries, newest...)
	}
	var stamp strings.Builder
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			fmt.Fprintf(&stamp, "%s %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return stamp.String()
}
