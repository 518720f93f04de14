package registry

import (
	"os"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

// Mend takes what is damaged out of the way, and returns where it is kept. A journal is replaced by its good
// beginning, the first keep events of it, or by an empty one: then it is as if the process had been killed at
// that moment, which every command can deal with. The caller holds the lock of the session or work tree that
// the flaw belongs to, unless it is of the wrong type, so that nobody can have it open.
func (c *Clone) Mend(f Flaw, keep int) (kept string, err error) {
	if f.Left {
		return "", os.Remove(f.Path)
	}
	if f.Kind.Name != journalKind {
		return durable.MoveAside(f.Path)
	}
	content, _ := readJournal(f.Path) // its good beginning, if it has one
	good := content.events[:min(keep, len(content.events))]
	lines, err := codec.EncodeLines(good)
	if err != nil {
		return "", err
	}
	header := journalHeader{V: FormatVersion, Journal: journalName(f.Path), After: content.header.After}
	if kept, err = durable.KeepAside(f.Path); err != nil {
		return "", err
	}
	if err := durable.WriteFile(f.Path, append(header.encode(), lines...), 0o600); err != nil {
		return kept, err
	}
	durable.Hit(durable.JournalMended)
	return kept, nil
}

const journalKind = "journal"

// JournalPath is the path of the journal that extends a session's ledger tip, whether it is there or not.
func (s Session) JournalPath(tip session.Commit) (string, error) {
	dir, err := s.dir()
	if err != nil {
		return "", err
	}
	name, err := tipName(tip)
	return journalPath(dir, name), err
}

// JournalFlaw is the flaw of a journal whose lines are good and whose events do not fit the session.
func (s Session) JournalFlaw(tip session.Commit, why error) (Flaw, error) {
	path, err := s.JournalPath(tip)
	return Flaw{Path: path, Kind: *KindOf(Layout(), "sessions/x/events-x.jsonl"), Session: s.id, Err: why}, err
}
