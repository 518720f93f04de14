package registry

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// maxIndex bounds what is read of the index, in bytes.
const maxIndex = 64 << 20

// Entry is one session in the index: its summary at one tip of its ledger. It is to be used when the ledger still has
// that tip, and says nothing of what the journal holds beyond it.
type Entry struct {
	V          int               `json:"v"` // FormatVersion; WriteEntry fills it in
	ID         session.ID        `json:"id"`
	Tip        session.Commit    `json:"tip"`
	Goal       string            `json:"goal"`
	Workflow   string            `json:"workflow"`
	Status     session.Status    `json:"status"`
	Phase      session.PhaseName `json:"phase"`
	Lap        int               `json:"lap"`
	Items      int               `json:"items,omitempty"` // of the spec's checklist
	Checkpoint int               `json:"checkpoint"`      // that the branch stands on
	Branch     string            `json:"branch"`          // full ref name
	CreatedAt  int64             `json:"created_at"`      // Unix seconds
	UpdatedAt  int64             `json:"updated_at"`
}

// ReadIndex returns the entries of the index. It is total: what cannot be read or understood is as if it were not
// there, because everything in it can be read from the ledgers as well.
func (c *Clone) ReadIndex() map[session.ID]Entry {
	entries := map[session.ID]Entry{}
	if found, err := c.check(c.dir); !found || err != nil {
		return entries
	}
	data, err := durable.ReadFile(c.indexPath(), maxIndex)
	if err != nil {
		return entries
	}
	for line := range bytes.Lines(data) {
		var e Entry
		if json.Unmarshal(line, &e) != nil || e.V != FormatVersion || e.Tip == "" {
			continue
		}
		if id, err := session.ParseID(string(e.ID)); err != nil || id != e.ID {
			continue
		}
		entries[e.ID] = e
	}
	return entries
}

// WriteEntry puts one entry into the index, in the place of what it said about that session. Losing it to a power cut
// or an error harms nothing but the speed of a listing.
func (c *Clone) WriteEntry(e Entry) error {
	if _, err := c.sessionDir(e.ID); err != nil {
		return err
	}
	if err := c.make(c.dir); err != nil {
		return err
	}
	l, err := durable.TryLock(filepath.Join(c.dir, "registry.lock"), nil)
	if err != nil {
		return err
	}
	defer l.Release()
	entries := c.ReadIndex()
	e.V = FormatVersion
	entries[e.ID] = e
	var out []byte
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		line, err := json.Marshal(entries[id])
		if err != nil {
			return err
		}
		out = append(append(out, line...), '\n')
	}
	return durable.WriteCache(c.indexPath(), out, 0o600)
}

func (c *Clone) indexPath() string { return filepath.Join(c.dir, "registry.jsonl") }
