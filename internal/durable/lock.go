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

// ErrNoLocks is returned on file systems without locks. Reading is safe there, running a session is not.
var ErrNoLocks = errors.New("the file system has no file locks")

// maxInfo bounds the text that is read from a lock, in bytes.
const maxInfo = 64 << 10

// Readers hold a lock for an instant to see whether it is held, so a lock is tried several times.
const (
	lockTries = 20
	lockPause = 10 * time.Millisecond
)

// LockWait is about how long TryLock and Share wait before they return ErrLocked.
const LockWait = lockTries * lockPause

// Lock is an exclusive advisory lock on a file (flock). The system releases it when its last descriptor is closed,
// however the process ends: a lock is never stale, and its file is never deleted.
type Lock struct{ f *os.File }

// TryLock takes the lock at path, and creates the file if needed, with mode 0600. It writes info into the file for
// people to read. It returns ErrLocked if another process holds the lock for 200 ms.
func TryLock(path string, info []byte) (*Lock, error) {
	return tryLock(path, info, func() { time.Sleep(lockPause) })
}

// Share takes a shared lock at path. It returns ErrLocked if another process holds an exclusive lock for 200 ms.
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
	// The file may have been deleted between open and lock; a lock on a file without a name excludes no other process.
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

// write is neither durable nor atomic: only the lock matters, and the text is for people.
func (l *Lock) write(info []byte) error {
	err := l.f.Truncate(0)
	if err == nil {
		_, err = l.f.WriteAt(info, 0)
	}
	return err
}

// File returns the open file of the lock. A child process that gets it as an extra file holds the lock too, even after
// Release, until it and all processes that it passed the descriptor to have ended. Other children do not inherit it.
func (l *Lock) File() *os.File { return l.f }

// Release releases the lock, unless a child holds it too.
func (l *Lock) Release() error { return l.f.Close() }

// Probe reports whether any process holds the lock at path, and the text that its current or last holder wrote. It
// writes nothing and does not create the file: without the file, no process holds the lock.
func Probe(path string) (held bool, info []byte, err error) {
	f, err := openRegular(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, err
	}
	defer f.Close() // releases the shared lock
	switch err := lockFile(f, false); {
	case errors.Is(err, ErrLocked):
		held = true
	case err != nil:
		return false, nil, err
	}
	info, err = io.ReadAll(io.NewSectionReader(f, 0, maxInfo))
	return held, info, err
}

// RemoveUnheld removes the file at path if no process holds a lock on it. It locks the file meanwhile, so that a
// process which has opened it and is about to lock it with TryLock creates it again.
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
	// another process removed it, and may have created a new one
	if named, err := os.Lstat(path); err != nil || !os.SameFile(mine, named) {
		return err
	}
	return os.Remove(path)
}

// HasLocks returns ErrNoLocks if the file system of a file has no locks. It writes nothing.
func HasLocks(path string) error {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() // releases the shared lock
	if err := lockFile(f, false); !errors.Is(err, ErrLocked) {
		return err
	}
	return nil
}
