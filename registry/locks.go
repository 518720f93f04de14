package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Holder describes the process that holds a lock, for messages. It does not prove that the lock is held: only an
// attempt to take the lock does.
type Holder struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`           // the command as the user would type it
	Since   int64  `json:"since"`             // when the process took the lock, in Unix seconds
	Session string `json:"session,omitempty"` // the session that the process works on
}

// Name returns a string that identifies this holder among all processes that ever hold the lock.
func (h Holder) Name() string { return fmt.Sprintf("%d-%d", h.PID, h.Since) }

// HeldError is the error if another process holds a lock.
type HeldError struct {
	Holder Holder // zero if the holder's description is unreadable
	What   string // first part of the message, as in "session auth is driven"
	At     int64  // when this process requested the lock, in Unix seconds
}

func (e *HeldError) Error() string {
	if e.Holder.PID == 0 {
		return e.What + " by another process"
	}
	since, now := time.Unix(e.Holder.Since, 0).UTC(), time.Unix(e.At, 0).UTC()
	form := "15:04 UTC"
	if since.Format(time.DateOnly) != now.Format(time.DateOnly) {
		form = "2006-01-02 15:04 UTC"
	}
	return fmt.Sprintf("%s by `%s` (pid %d, since %s)", e.What, e.Holder.Command, e.Holder.PID, since.Format(form))
}

// Unwrap returns durable.ErrLocked.
func (e *HeldError) Unwrap() error { return durable.ErrLocked }

// Lock takes the lock that the driver of the session holds. The error is a *HeldError if another process holds it.
func (s Session) Lock(h Holder) (*durable.Lock, error) {
	dir, err := s.dir()
	if err != nil {
		return nil, err
	}
	return s.clone.lock(filepath.Join(dir, driverLock), h, fmt.Sprintf("session %s is in use", s.id))
}

// Lock takes the lock that a process holds while it changes the work tree. The error is a *HeldError if another process
// holds it.
func (w Worktree) Lock(h Holder) (*durable.Lock, error) {
	return w.clone.lock(w.lockFile(), h, "this work tree is in use")
}

// Driver returns the process that drives the session; held is false if there is none. It takes no lock and writes
// nothing.
func (s Session) Driver() (h Holder, held bool, err error) {
	dir, err := s.dir()
	if err != nil {
		return Holder{}, false, err
	}
	return s.clone.probe(filepath.Join(dir, driverLock))
}

const driverLock = "driver.lock"

// Holder returns the process that is changing the work tree; held is false if there is none. It takes no lock and
// writes nothing.
func (w Worktree) Holder() (h Holder, held bool, err error) {
	return w.clone.probe(w.lockFile())
}

func (c *Clone) lock(path string, h Holder, what string) (*durable.Lock, error) {
	if err := c.make(filepath.Dir(path)); err != nil {
		return nil, err
	}
	info, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	l, err := durable.TryLock(path, append(info, '\n'))
	if errors.Is(err, durable.ErrLocked) {
		other, held, _ := c.probe(path)                            // if the probe fails, the message names no process
		for try := 0; held && other.PID == 0 && try < 200; try++ { // its name is not written yet
			time.Sleep(time.Millisecond)
			other, held, _ = c.probe(path)
		}
		return nil, &HeldError{Holder: other, What: what, At: h.Since}
	}
	return l, err
}

func (c *Clone) probe(path string) (h Holder, held bool, err error) {
	if found, err := c.check(filepath.Dir(path)); !found || err != nil {
		return Holder{}, false, err
	}
	held, info, err := durable.Probe(path)
	if err != nil || !held {
		return Holder{}, false, err
	}
	if json.Unmarshal(info, &h) != nil {
		return Holder{}, true, nil
	}
	return h, true, nil
}

func (w Worktree) lockFile() string {
	return filepath.Join(w.dir(), "lock")
}

// fileName returns a file name for any string, valid on every file system. Different strings have different file names.
func fileName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if plain(name[i]) && (i > 0 || name[i] != '.') {
			b.WriteByte(name[i])
		} else {
			fmt.Fprintf(&b, "%%%02x", name[i])
		}
	}
	if b.Len() == 0 || b.Len() > 120 {
		return "%" + digestOf(name)
	}
	return b.String()
}
