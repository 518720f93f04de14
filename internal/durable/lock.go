package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// ErrLocked is returned when somebody else holds a lock.
var ErrLocked = errors.New("locked by another process")

// ErrNoLocks is returned on file systems that have no locks. Reading is safe there, driving is not.
var ErrNoLocks = errors.New("the file system has no file locks")

// maxInfo bounds what is read of a lock's text for people, in bytes.
const maxInfo = 64 << 10

// Readers hold a lock for an instant to see whether it is held, so a lock is asked for again before it is called held.
const (
	lockTries = 20
	lockPause = 10 * time.Millisecond
)

// LockWait is for about how long TryLock and Share wait before they call a lock held.
const LockWait = lockTries * lockPause

// Lock is an exclusive advisory lock on a file (flock). The system takes it back when the last
// descriptor of it is closed, however the process ends: a lock is never stale, and its file is never deleted.
type Lock struct{ f *os.File }

// TryLock takes the lock at path, whose file is made if need be, mode 0600. info is written into the file, for people
// to read. It returns ErrLocked when somebody else holds the lock for 200 ms on end.
func TryLock(path string, info []byte) (*Lock, error) {
	return tryLock(path, info, func() { time.Sleep(lockPause) })
}

// Share takes the lock at path together with others who share it. It returns ErrLocked when somebody has it alone for
// 200 ms on end.
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
	// Between opening and locking the file may have been deleted; a lock on a file without a name excludes nobody.
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

// write is not durable and not atomic: the lock is what counts, its text is for people.
func (l *Lock) write(info []byte) error {
	err := l.f.Truncate(0)
	if err == nil {
		_, err = l.f.WriteAt(info, 0)
	}
	return err
}

// File is the open file of the lock. A child process that is given it as an extra file holds the lock too, until it
// and everybody it passed the descriptor on to have ended, also after Release. Nobody else inherits it.
func (l *Lock) File() *os.File { return l.f }

// Release gives the lock back, unless a child holds it too.
func (l *Lock) Release() error { return l.f.Close() }

// Probe reports whether anybody holds the lock at path, and the text that its holder, or its last holder, wrote. It
// writes nothing and does not make the file: where there is none, nobody holds it.
func Probe(path string) (held bool, info []byte, err error) {
	f, err := openRegular(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, err
	}
	defer f.Close() // gives the shared lock back
	switch err := lockFile(f, false); {
	case errors.Is(err, ErrLocked):
		held = true
	case err != nil:
		return false, nil, err
	}
	info, err = io.ReadAll(io.NewSectionReader(f, 0, maxInfo))
	return held, info, err
}

// RemoveUnheld removes the file at path if nobody holds a lock on it, and keeps anybody from taking one
// meanwhile: whoever has made it and is about to lock it with TryLock makes it again.
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
	// somebody else has removed it, and it is made again
	if named, err := os.Lstat(path); err != nil || !os.SameFile(mine, named) {
		return err
	}
	return os.Remove(path)
}

// HasLocks reports, as ErrNoLocks, that the file system of a file has no locks. It writes nothing.
func HasLocks(path string) error {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() // gives the shared lock back
	if err := lockFile(f, false); !errors.Is(err, ErrLocked) {
		return err
	}
	return nil
}
