package registry

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

// maxJournal bounds a journal, in bytes. It holds the events between two checkpoints, a few kilobytes in practice.
const maxJournal = 64 << 20

// Journal holds the events of one session since a ledger commit, in one file for each such commit. Only the process
// that holds the session's lock may use it, in one goroutine.
type Journal struct {
	of      Session
	dir     string
	name    string // name of the tip, see tipName
	after   string // name of the tip before this one; "": unknown
	existed bool
	unnamed bool         // the file's name may not be durable yet
	synced  func() error // waits until the loaded content is durable; nil if there was none
	size    int64
	events  []session.Event
	out     *durable.Appender // nil until there is a file
}

// Journal opens the journal that extends a session's ledger tip, or "" before there is a ledger. The caller holds the
// session's lock (Session.Lock). A torn tail is moved aside and cut off. Any other damaged file is left unchanged, and
// the error is ErrCorrupt; if a newer wfs wrote to it, the error is session.ErrNewer. A missing file is not created
// before the first Append or Rotate, because its absence shows that a process died between moving the ledger and
// rotating the journal (see Existed).
func (s Session) Journal(tip session.Commit) (*Journal, error) {
	dir, err := s.dir()
	if err != nil {
		return nil, err
	}
	name, err := tipName(tip)
	if err != nil {
		return nil, err
	}
	if err := s.clone.make(dir); err != nil {
		return nil, err
	}
	sweep(dir)
	j := &Journal{of: s, dir: dir, name: name}
	if err := j.soundExclude(); err != nil {
		return nil, err
	}
	if err := j.load(); err != nil {
		return nil, err
	}
	for _, e := range j.events {
		if run, ok := e.Body.(session.AttemptStarted); ok && checkName("run", run.RunID) == nil {
			sweep(filepath.Join(dir, runsName, run.RunID))
		}
	}
	return j, nil
}

// load reads the journal's file, if it exists, and opens it for appending.
func (j *Journal) load() error {
	content, err := readJournal(j.path())
	if err != nil {
		return ifThere(err)
	}
	if len(content.torn) > 0 {
		tail := j.path() + ".torn" // for people to look at
		if err := durable.WriteFile(tail, content.torn, 0o600); err != nil {
			return err
		}
		if _, err := durable.MoveAside(tail); err != nil {
			return err
		}
		if err := durable.Truncate(j.path(), content.size); err != nil {
			return err
		}
	}
	// The process that wrote this may have been killed before its fsync. Events must be durable before they are acted
	// on; a journal without events can wait until one is appended.
	path := j.path()
	j.synced = sync.OnceValue(func() error { return durable.SyncFile(path) })
	if len(content.events) == 0 {
		go j.synced()
	} else if err := j.synced(); err != nil {
		return err
	}
	j.existed, j.size, j.events, j.after = content.size > 0, content.size, content.events, content.header.After
	j.out, err = durable.OpenAppend(j.path())
	return err
}

func (j *Journal) path() string { return journalPath(j.dir, j.name) }

// Peek reads the journal that extends a session's ledger tip. It writes nothing and takes no lock, so it may see an
// unfinished tail of a living or dead process: then torn is true, and events are those before the tail. Without a
// journal there are no events. With an error (ErrCorrupt, session.ErrNewer) events are those before the bad line.
func (s Session) Peek(tip session.Commit) (events []session.Event, torn bool, err error) {
	path, err := s.JournalPath(tip)
	if err != nil {
		return nil, false, err
	}
	if found, err := s.clone.check(filepath.Dir(path)); !found || err != nil {
		return nil, false, err
	}
	content, err := readJournal(path)
	return content.events, err == nil && len(content.torn) > 0, ifThere(err)
}

// Tips lists the ledger commits of the session's journals; "" stands for the time before the ledger. If such a commit
// is neither the ledger's tip nor one of its ancestors, its journal belongs to another history.
func (s Session) Tips() ([]session.Commit, error) {
	dir, err := s.dir()
	if err != nil {
		return nil, err
	}
	entries, err := entriesOf(dir)
	if err != nil {
		return nil, err
	}
	var tips []session.Commit
	for _, e := range entries {
		switch name := journalName(e.Name()); name {
		case "":
		case noTip:
			tips = append(tips, "")
		default:
			tips = append(tips, session.Commit(name))
		}
	}
	return tips, nil
}

// Events returns the events beyond the ledger's tip, including those appended since the journal was opened.
func (j *Journal) Events() []session.Event { return slices.Clone(j.events) }

// Existed reports whether the file for this tip existed when the journal was opened or rotated to.
func (j *Journal) Existed() bool { return j.existed }

// Append makes events durable before it returns. Within one file each event's Seq must be one more than that of the
// event before; otherwise Append fails and writes nothing. After a failed write or fsync every further Append fails:
// the next process must find out how much is on the disk.
func (j *Journal) Append(events ...session.Event) error {
	if len(events) == 0 {
		return nil
	}
	all := slices.Concat(j.events, events)
	for i := max(1, len(j.events)); i < len(all); i++ {
		if want := all[i-1].Seq + 1; all[i].Seq != want {
			return fmt.Errorf("journal of session %s: event %d (%s) cannot follow event %d", j.of.id, all[i].Seq,
				all[i].Kind(),
				want-1)
		}
	}
	data, err := codec.EncodeLines(events)
	if err != nil {
		return err
	}
	if j.size+int64(len(data)) > maxJournal {
		return fmt.Errorf("%s: %w", j.path(), durable.ErrTooLarge)
	}
	if err := j.sync(); err != nil {
		return err
	}
	if j.out == nil || j.size == 0 {
		if err := j.create(); err != nil {
			return err
		}
	}
	if err := j.out.Append(data); err != nil {
		return err
	}
	if j.unnamed {
		if err := durable.SyncDir(j.dir); err != nil {
			return err
		}
		j.unnamed = false
	}
	j.events, j.size = all, j.size+int64(len(data))
	return nil
}

func (j *Journal) sync() error {
	if j.synced == nil {
		return nil
	}
	return j.synced()
}

// create creates the journal's file with its first line. It does not sync: if the file is lost or empty after a power
// cut, the rotation counts as not done, and recovery repeats its consequences.
func (j *Journal) create() error {
	if j.out != nil { // of an empty file, which is replaced
		j.out.Close()
		j.out = nil
	}
	first := journalHeader{V: FormatVersion, Journal: j.name, After: j.after}.encode()
	if err := durable.WriteCache(j.path(), first, 0o600); err != nil {
		return err
	}
	j.unnamed = true
	out, err := durable.OpenAppend(j.path())
	if err != nil {
		return err
	}
	j.out, j.size = out, int64(len(first))
	return nil
}

// Rotate switches to the journal that extends a new ledger tip. It keeps the previous journal, and removes older ones,
// but only those in the chain of its own rotations. It keeps journals that it knows nothing about.
func (j *Journal) Rotate(tip session.Commit) error {
	name, err := tipName(tip)
	if err != nil || name == j.name {
		return err
	}
	next := &Journal{of: j.of, dir: j.dir, name: name}
	if err := next.load(); err != nil {
		return err
	}
	if next.size == 0 {
		next.after = j.name
		if err := next.create(); err != nil {
			return err
		}
	}
	durable.Hit(durable.JournalRotated)
	j.prune(name)
	j.Close()
	*j = *next
	return nil
}

// prune removes the journals that precede this one. It follows the names in their first lines, and removes the oldest
// first, so that a kill in between leaves a chain that the next rotation finds. That rotation also retries files that
// could not be read or removed.
func (j *Journal) prune(next string) {
	var old []string
	name := j.after
	for name != "" && name != j.name && name != next && !slices.Contains(old, name) {
		data, err := durable.ReadFile(journalPath(j.dir, name), maxJournal)
		if err != nil {
			break
		}
		first, _, _ := bytes.Cut(data, []byte("\n"))
		header, err := parseHeader(first, name)
		if err != nil || header == (journalHeader{}) {
			break
		}
		old = append(old, name)
		name = header.After
	}
	for _, name := range slices.Backward(old) {
		if os.Remove(journalPath(j.dir, name)) != nil {
			return
		}
	}
}

// Discard removes the journal, exclude file and runs of a session that was never created. The journal is empty then and
// can be used again.
func (j *Journal) Discard() error {
	if j.name != noTip {
		return fmt.Errorf("session %s has a history: its journal is not discarded", j.of.id)
	}
	_ = j.sync() // otherwise it would sync a removed file
	if err := j.Close(); err != nil {
		return err
	}
	j.out, j.events, j.size, j.existed, j.synced = nil, nil, 0, false, nil
	for _, path := range []string{j.path(), filepath.Join(j.dir, excludeName), filepath.Join(j.dir, runsName)} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return durable.SyncDir(j.dir)
}

// Close closes the journal's file. All appended events are durable already.
func (j *Journal) Close() error {
	if j.out == nil {
		return nil
	}
	return j.out.Close()
}

// sweep removes unfinished files of killed processes. Only the lock's holder writes into a session's directory.
func sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, durable.TempPrefix+"*"))
	for _, path := range left {
		os.Remove(path)
	}
}
