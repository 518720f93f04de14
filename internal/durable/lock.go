package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// ErrLocked is returned if another process holds a lock.
var ErrLocked = errors.New("locked by another process")

// ErrNoLocks is returned if the file system has no file locks. Reading a session is safe there, but running one is not.
var ErrNoLocks = errors.New("the file system has no file locks")

// maxInfo is the maximum number of bytes that are read of a holder's description.
const maxInfo = 64 << 10

// TryLock and Share try several times, because Probe takes the lock for an instant to see whether it is held.
const (
	lockTries = 20
	lockPause = 10 * time.Millisecond
)

// LockWait is roughly how long TryLock and Share wait before they return ErrLocked.
const LockWait = lockTries * lockPause

// Lock is an exclusive advisory lock on a file (flock). The system releases it when the last descriptor of the open
// file is closed, however the process ends. Therefore a lock never outlives its holders, and a leftover lock file does
// no harm.
type Lock struct{ f *os.File }

// TryLock takes the lock at `path`. It creates the file with mode 0600 if needed, and writes `info`, a description of
// the holder, into it. It returns ErrLocked if another process still holds the lock after 200 ms.
func TryLock(path string, info []byte) (*Lock, error) {
	return tryLock(path, info, func() { time.Sleep(lockPause) })
}

// Share takes a shared lock at `path`, which many processes can hold at once. It returns ErrLocked if another process
// still holds an exclusive lock after 200 ms.
func Share(path string) (*Lock, error) {
	for try := 1; ; try++ {
		l, err := lockOnce(path, false)
		if !errors.Is(err, ErrLocked) || try == lockTries {
			return l, err
		}
		time.Sleep(lockPause)
	}
}

func tryLock(path string, info []byte, pause func()) (*Lock, error) {
	for try := 1; ; try++ {
		l, err := lockOnce(path, true)
		if err == nil {
			if err := l.write(info); err != nil {
				l.Release()
				return nil, err
			}
			return l, nil
		}
		if !errors.Is(err, ErrLocked) || try == lockTries {
			return nil, err
		}
		pause()
	}
}

func lockOnce(path string, exclusive bool) (*Lock, error) {
	f, err := openRegular(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f, exclusive); err != nil {
		f.Close()
		return nil, err
	}
	// Another process may have deleted the file between open and lock. A lock on a deleted file would exclude no other
	// process.
	mine, err := f.Stat()
	if err == nil {
		var named fs.FileInfo
		if named, err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, named) {
			err = ErrLocked
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Lock{f}, nil
}

// write stores the holder's description. It is neither durable nor atomic, because the text is only for messages, and
// the lock itself is what counts.
func (l *Lock) write(info []byte) error {
	err := l.f.Truncate(0)
	if err == nil {
		_, err = l.f.WriteAt(info, 0)
	}
	return err
}

// File returns the lock's open file. If it is passed to a child process as an extra file, the child holds the lock too,
// even after Release, until the child and all processes to which it passed the descriptor have ended. Other children do
// not inherit the lock.
func (l *Lock) File() *os.File { return l.f }

// Release releases the lock. It stays held if a child process has its file.
func (l *Lock) Release() error { return l.f.Close() }

// Probe reports whether any process holds the lock at `path`, and returns the description that the current or last
// holder wrote. It writes nothing. It does not create a missing file, because then no process holds the lock.
func Probe(path string) (held bool, info []byte, err error) {
	f, err := openRegular(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, err
	}
	defer f.Close() // also releases the shared lock
	switch err := lockFile(f, false); {
	case errors.Is(err, ErrLocked):
		held = true
	case err != nil:
		return false, nil, err
	}
	info, err = io.ReadAll(io.NewSectionReader(f, 0, maxInfo))
	return held, info, err
}

// RemoveUnheld removes the lock file at `path` if no process holds the lock. It holds the lock while it removes the
// file. Another process that has opened the file and waits in TryLock then finds the file deleted, and creates a new
// one.
func RemoveUnheld(path string) error {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lockFile(f, true); err != nil {
		return err
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	// Another process has removed the file, and may have created a new one, which must stay.
	if named, err := os.Lstat(path); err != nil || !os.SameFile(mine, named) {
		return err
	}
	return os.Remove(path)
}

// HasLocks returns ErrNoLocks if the file system of the file at `path` has no file locks. It writes nothing.
func HasLocks(path string) error {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() // also releases the shared lock
	if err := lockFile(f, false); !errors.Is(err, ErrLocked) {
		return err
	}
	return nil
}
