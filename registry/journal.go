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

// maxJournal is the maximum size of a journal, in bytes. In practice a journal has a few kilobytes, the events between
// two checkpoints.
const maxJournal = 64 << 20

// Journal holds the events of one session since a ledger commit, the tip. Each ledger commit has a file of its own.
// Only the process that holds the session's lock may use a Journal, and only in one goroutine.
type Journal struct {
	of      Session
	dir     string
	name    string // the tip in file names, see tipName
	after   string // name of the journal that this one followed; "": unknown
	existed bool
	unnamed bool         // the file's directory entry may not be durable yet
	synced  func() error // makes durable what load has read; nil if there was nothing
	size    int64
	events  []session.Event
	out     *durable.Appender // nil until the file exists
}

// Journal opens the journal that extends a session's ledger tip. `tip` is "" while the session has no ledger. The
// caller holds the session's lock (Session.Lock).
//
// Journal moves a torn tail (bad lines at the end of the file, from a process that was killed as it wrote) to another
// file. If the journal is damaged in another way, Journal leaves the file unchanged and returns ErrCorrupt; if a newer
// wfs wrote to it, session.ErrNewer. Journal does not create a missing file; the first Append or Rotate does. Until
// then the file's absence shows that a process died after it moved the ledger and before it rotated the journal (see
// Existed).
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
		tail := j.path() + ".torn" // so that people can look at it
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
	// The process that wrote these events may have been killed before its fsync. Events must be durable before wfs acts
	// on them. A journal without events need not be durable until one is appended.
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

// Peek reads the journal that extends a session's ledger tip. It writes nothing and takes no lock. Therefore it may see
// an unfinished tail that a living process is writing or a killed one left: then `torn` is true, and `events` are the
// events before the tail. If there is no journal, there are no events. If the error is ErrCorrupt or session.ErrNewer,
// `events` are the events before the bad line.
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

// Tips lists the ledger commits that the session's journals extend; "" stands for the journal from before the first
// ledger commit. If a listed commit is neither the ledger's tip nor one of its ancestors, its journal belongs to
// another history of the session.
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

// Events returns the events since the ledger's tip: those read when the journal was opened, and those appended since.
func (j *Journal) Events() []session.Event { return slices.Clone(j.events) }

// Existed reports whether the journal's file already existed when Journal or Rotate opened it.
func (j *Journal) Existed() bool { return j.existed }

// Append writes events to the journal, and returns when they are durable. Within one file, each event's Seq must be one
// more than the Seq of the event before; if not, Append fails and writes nothing. After a failed write or fsync every
// later Append fails too, because it is unknown how much is on the disk: the next process that opens the journal finds
// out.
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

// create creates the journal's file with its first line. It does not sync. If a power cut loses or empties the file, it
// is as if the rotation had not happened: the next process completes the turn before it, and rotates again.
func (j *Journal) create() error {
	if j.out != nil { // an empty file was open; it is replaced
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

// Rotate switches to the journal that extends a new ledger tip. It keeps the journal before that, and removes older
// ones. It removes only journals that its own rotations created, and keeps any other journal in the directory.
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

// prune removes the journals that came before this one. The first line of each journal names the one before it. prune
// removes the oldest first: if it is killed, the rest is still a chain that the next rotation can follow. The next
// rotation also retries files that could not be read or removed.
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

// Discard removes the journal, exclude file and runs of a session whose creation failed. After that, the journal is
// empty and can be used again.
func (j *Journal) Discard() error {
	if j.name != noTip {
		return fmt.Errorf("session %s has a history: its journal is not discarded", j.of.id)
	}
	_ = j.sync() // without this, a later sync would fail on the removed file
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

// Close closes the journal's file. It does not sync, because Append has made all events durable.
func (j *Journal) Close() error {
	if j.out == nil {
		return nil
	}
	return j.out.Close()
}

// sweep removes unfinished files that killed processes left in a session's directory. The caller holds the session's
// lock, and only the holder writes there, so no living process is using them.
func sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, durable.TempPrefix+"*"))
	for _, path := range left {
		os.Remove(path)
	}
}
