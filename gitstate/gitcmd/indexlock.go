package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// AwaitIndexLock waits until no other process holds the lock of the index. It ignores a lock that a killed wfs left,
// which the next LockIndex removes.
func (r *Locks) AwaitIndexLock(ctx context.Context) error {
	path := r.git.IndexPath() + ".lock"
	return await(ctx, r, path, func() bool { return !IsThere(path) || OursByMark(path) })
}

// LockMark is the content of index.lock when wfs has created it. It distinguishes a leftover of a killed wfs from the
// lock of another program.
var LockMark = []byte("locked by wfs\n")

// OursByMark reports whether wfs has created the lock file at a path: it contains LockMark.
func OursByMark(path string) bool {
	data, err := durable.ReadFile(path, int64(len(LockMark)))
	return err == nil && bytes.Equal(data, LockMark)
}

// Pause waits for a duration, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// LockIndex locks the index of the work tree as git does, by creating index.lock. It returns a function that unlocks
// it. The caller holds the work tree's own lock, so an existing index.lock with LockMark is a leftover.
func (r *Locks) LockIndex(ctx context.Context) (unlock func(), err error) {
	path := r.git.IndexPath() + ".lock"
	mark := filepath.Join(r.git.PrivateDir(), "lock-mark")
	if err := durable.MkdirAll(r.git.PrivateDir()); err != nil {
		return nil, err
	}
	if !OursByMark(mark) {
		if err := durable.WriteFile(mark, LockMark, 0o600); err != nil {
			return nil, err
		}
	}
	for w := (wait{}); ; {
		err := linkOrCopy(mark, path)
		if err == nil {
			return func() { _ = os.Remove(path) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if OursByMark(path) {
			if err := IgnoreAbsent(os.Remove(path)); err != nil {
				return nil, err
			}
			continue
		}
		if err := w.on(ctx, r, path); err != nil {
			return nil, err
		}
	}
}

// linkOrCopy creates a lock file with the content of LockMark. If the file system has hard links, the file has its
// content from the start; otherwise it is empty for a moment.
func linkOrCopy(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(LockMark)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		_ = os.Remove(to)
	}
	return err
}
