package registry

import (
	"os"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

// Mend moves a damaged file aside, and returns its new path. It replaces a journal by its good beginning (the first
// keep events) or by an empty one. The result is the same as if the process had been killed at that moment, which every
// command can handle. The caller holds the lock of the flaw's session or work tree, unless the flaw is a wrong type, so
// that no process can have it open.
func (c *Clone) Mend(f Flaw, keep int) (kept string, err error) {
	if f.Left {
		return "", os.Remove(f.Path)
	}
	if f.Kind.Name != journalKind {
		return durable.MoveAside(f.Path)
	}
	content, _ := readJournal(f.Path) // the good beginning, if any
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

// JournalPath returns the path of the journal that extends a session's ledger tip. The file may not exist.
func (s Session) JournalPath(tip session.Commit) (string, error) {
	dir, err := s.dir()
	if err != nil {
		return "", err
	}
	name, err := tipName(tip)
	return journalPath(dir, name), err
}

// JournalFlaw returns the flaw of a journal whose lines are valid but whose events do not fit the session.
func (s Session) JournalFlaw(tip session.Commit, why error) (Flaw, error) {
	path, err := s.JournalPath(tip)
	return Flaw{Path: path, Kind: *KindOf(Layout(), "sessions/x/events-x.jsonl"), Session: s.id, Err: why}, err
}
