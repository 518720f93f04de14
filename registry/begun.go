package registry

import (
	"fmt"
	"os"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Begun reports whether there is a journal that extends a session's ledger tip. An empty file is none.
func (c *Clone) Begun(id session.ID, tip session.Commit) bool {
	path, err := c.JournalPath(id, tip)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// Begin makes the journal anew with events of which it is known that they are the first. All of them are durable, or none.
func (j *Journal) Begin(events ...session.Event) error {
	if j.size > 0 {
		return fmt.Errorf("%s has already started", j.path())
	}
	lines, err := session.EncodeLines(events)
	if err != nil {
		return err
	}
	if err := j.Close(); err != nil { // of an empty file
		return err
	}
	j.out = nil
	first := journalHeader{V: FormatVersion, Journal: j.name}.encode()
	if err := durable.WriteFile(j.path(), append(first, lines...), 0o600); err != nil {
		return err
	}
	durable.Hit(durable.JournalGivenBack)
	return j.load()
}
