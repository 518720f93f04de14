package registry

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Mend takes what is damaged out of the way, and returns where it is kept. A journal is replaced by its good beginning,
// the first keep events of it, or by an empty one: then it is as if the process had been killed at that moment, which
// every command can deal with. The caller holds the lock of the session or work tree that the flaw belongs to, unless it
// is of the wrong type, so that nobody can have it open.
func (c *Clone) Mend(f Flaw, keep int) (kept string, err error) {
	if f.Left {
		return "", os.Remove(f.Path)
	}
	if f.Kind.Name != journalKind {
		return durable.MoveAside(f.Path)
	}
	content, _ := readJournal(f.Path) // its good beginning, if it has one
	good := content.events[:min(keep, len(content.events))]
	lines, err := session.EncodeLines(good)
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

// Beginning returns the events at the beginning of the journal that extends a session's ledger tip, up to the first
// damage. It never fails: a journal that cannot be read holds none.
func (c *Clone) Beginning(id session.ID, tip session.Commit) []session.Event {
	path, err := c.JournalPath(id, tip)
	if err != nil {
		return nil
	}
	content, _ := readJournal(path)
	return content.events
}

// JournalPath is the path of the journal that extends a session's ledger tip, whether it is there or not.
func (c *Clone) JournalPath(id session.ID, tip session.Commit) (string, error) {
	dir, err := c.sessionDir(id)
	if err != nil {
		return "", err
	}
	name, err := tipName(tip)
	return journalPath(dir, name), err
}

// JournalFlaw is the flaw of a journal whose lines are good and whose events do not fit the session.
func (c *Clone) JournalFlaw(id session.ID, tip session.Commit, why error) (Flaw, error) {
	path, err := c.JournalPath(id, tip)
	return Flaw{Path: path, Kind: *KindOf(Layout(), "sessions/x/events-x.jsonl"), Session: id, Err: why}, err
}

// MissingRules returns the lines of a session's exclude rules that its exclude file lacks, given the rules that the
// ledger has. None are missing when there is no file, or a damaged one: it is written anew then.
func (c *Clone) MissingRules(id session.ID, ledger []byte) ([]string, error) {
	dir, err := c.sessionDir(id)
	if err != nil {
		return nil, err
	}
	text, err := durable.ReadFile(filepath.Join(dir, excludeName), maxExclude)
	if err != nil {
		return nil, ifThere(err)
	}
	if checkSum(text) != nil {
		return nil, nil // all of it is written anew
	}
	return missingRules(text, ledger), nil
}

func missingRules(text, ledger []byte) []string {
	have, _ := session.SplitGuard(unseal(text))
	want, _ := session.SplitGuard(ledger)
	known := map[string]bool{}
	for line := range bytes.Lines(have) {
		known[strings.TrimRight(string(line), "\n")] = true
	}
	var missing []string
	for line := range bytes.Lines(want) {
		if rule := strings.TrimRight(string(line), "\n"); !known[rule] {
			missing = append(missing, rule)
		}
	}
	return missing
}

// AddRules puts rules before those of a session's exclude file, and returns where the file as it was is kept. The caller
// holds the session's lock.
func (c *Clone) AddRules(id session.ID, rules []string) (kept string, err error) {
	dir, err := c.sessionDir(id)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, excludeName)
	text, err := durable.ReadFile(path, maxExclude)
	if err != nil {
		return "", err
	}
	old, guard := session.SplitGuard(unseal(text))
	all := append([]byte(strings.Join(rules, "\n")+"\n"), old...)
	if kept, err = durable.KeepAside(path); err != nil {
		return "", err
	}
	return kept, durable.WriteFile(path, seal(session.WithGuard(all, guard)), 0o600)
}

// AnchorOf returns the ledger tips that the names of a session's journals tell, for a ledger whose ref is lost.
func (c *Clone) AnchorOf(id session.ID) ([]session.Commit, error) {
	tips, err := c.Tips(id)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	var known []session.Commit
	for _, tip := range tips {
		if tip != "" {
			known = append(known, tip)
		}
	}
	return known, nil
}
