package registry

import (
	"os"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

// Mend removes a flaw that Examine found, and returns the path to which it moved the damaged file. It replaces a
// journal by the good part at its beginning, at most `keep` events. Any other file is missing afterwards. Both are
// states that a killed process can leave too, so every command can handle them. An unfinished file is deleted, and kept
// is "".
//
// The caller holds the lock of the flaw's session or work tree, unless the flaw is a wrong type: then no process can
// have the file open.
func (c *Clone) Mend(f Flaw, keep int) (kept string, err error) {
	if f.Left {
		return "", os.Remove(f.Path)
	}
	if f.Kind.Name != journalKind {
		return durable.MoveAside(f.Path)
	}
	content, _ := readJournal(f.Path) // the good part at the beginning, which may be empty
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

// JournalPath returns the path of the journal that extends a session's ledger tip. The file may be missing.
func (s Session) JournalPath(tip session.Commit) (string, error) {
	dir, err := s.dir()
	if err != nil {
		return "", err
	}
	name, err := tipName(tip)
	return journalPath(dir, name), err
}

// JournalFlaw returns a Flaw for a journal that Examine finds no fault with, but whose events are impossible for the
// session. `why` is the error.
func (s Session) JournalFlaw(tip session.Commit, why error) (Flaw, error) {
	path, err := s.JournalPath(tip)
	return Flaw{Path: path, Kind: *KindOf(Layout(), "sessions/x/events-x.jsonl"), Session: s.id, Err: why}, err
}
