package gitstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ReadyError says why wfs will not write to this repository now.
type ReadyError struct {
	Code   string // one of the Not… constants
	Detail string
}

// The codes of ReadyError.
const (
	NotCommitted  = "no_commits"  // there is no commit yet
	NotBorn       = "unborn"      // HEAD is on a branch without commits, and there are others
	NotOnBranch   = "detached"    // HEAD is on no branch
	NotDone       = "in_progress" // Detail is "merge", "rebase", …
	NotMerged     = "unmerged"    // the index has conflicts
	NotIdentified = "identity"    // neither configuration nor environment say who commits
	NotNamespace  = "namespace"   // a branch is called wfs, so that none can be called wfs/…
	NotExcludes   = "excludes"    // the user's exclude file cannot be read
	NotWhole      = "index"       // the index is damaged
)

// notReady says why in words; DETAIL stands for the detail.
var notReady = map[string]string{
	NotCommitted:  "the repository has no commits yet",
	NotBorn:       "HEAD is on DETAIL, which has no commit yet",
	NotOnBranch:   "HEAD is detached: it is on no branch",
	NotDone:       "a DETAIL is in progress",
	NotMerged:     "the index has unmerged paths: DETAIL",
	NotIdentified: "git does not know who you are: DETAIL",
	NotNamespace:  "DETAIL exists, so git cannot keep refs below that name",
	NotExcludes:   "your exclude file cannot be used: DETAIL",
	NotWhole:      "the index is damaged: DETAIL",
}

func (e *ReadyError) Error() string { return strings.Replace(notReady[e.Code], "DETAIL", e.Detail, 1) }

// Ready reports, as a *ReadyError or *LockedError, what keeps wfs from writing here, before anything is
// written. detached allows a HEAD that is on no branch.
func (r *Repo) Ready(ctx context.Context, detached bool) error {
	if err := r.Fit(ctx, detached); err != nil {
		return err
	}
	if err := r.awaitRefLocks(ctx); err != nil {
		return err
	}
	return r.awaitIndexLock(ctx)
}

// Fit is Ready for somebody who only wants to know: what is locked now is not looked at.
func (r *Repo) Fit(ctx context.Context, detached bool) error {
	operation, err := r.InProgress(ctx)
	if err != nil {
		return err
	}
	if operation != "" {
		return &ReadyError{NotDone, operation}
	}
	head, err := r.Head(ctx)
	if err != nil {
		return err
	}
	if head.Commit == "" {
		return r.noCommit(ctx, head)
	}
	if head.Ref == "" && !detached {
		return &ReadyError{NotOnBranch, string(head.Commit)}
	}
	for _, name := range []string{branchPrefix, refsPrefix, opsPrefix, deletedPrefix} {
		name = strings.TrimSuffix(name, "/")
		c, err := r.Ref(ctx, name)
		if err != nil {
			return err
		}
		if c != "" {
			return &ReadyError{NotNamespace, name}
		}
	}
	x, err := r.readIndex(ctx, r.indexPath())
	var failed *GitError
	if errors.As(err, &failed) && failed.Exit == gitDied {
		said, _, _ := strings.Cut(failed.Stderr, "\n")
		return &ReadyError{NotWhole, strings.TrimPrefix(said, "error: ")}
	}
	if err != nil {
		return err
	}
	if info := x.info(); len(info.unmerged) > 0 {
		return unmerged(info)
	}
	return nil
}

// Able reports what else keeps wfs from writing here: a git that is too old, or exclude rules that cannot be
// read. Git was asked when the repository was opened, and may still be about to answer.
func (r *Repo) Able(ctx context.Context) error {
	if _, err := r.Version(ctx); err != nil {
		return err
	}
	_, err := r.identity(ctx)
	if err == nil {
		_, err = r.userExcludes(ctx)
	}
	return err
}

// Used reports whether wfs has kept something for this work tree before.
func (r *Repo) Used() bool {
	_, err := os.Stat(r.worktreeDir())
	return err == nil
}

// noCommit says which of two things a HEAD without a commit is.
func (r *Repo) noCommit(ctx context.Context, head session.Head) error {
	branches, err := r.Branches(ctx)
	if err != nil || len(branches) == 0 {
		return join(err, &ReadyError{NotCommitted, ""})
	}
	return &ReadyError{NotBorn, strings.TrimPrefix(head.Ref, "refs/heads/")}
}

func unmerged(i indexInfo) error {
	const shown = 5
	names := strings.Join(i.unmerged[:min(shown, len(i.unmerged))], ", ")
	if more := len(i.unmerged) - shown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return &ReadyError{NotMerged, names}
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimPrefix(s[strings.LastIndexByte(s, '\n')+1:], "fatal: ")
}

// A lock of ours holds this text, so that one that a killed wfs left behind is told from another program's.
var lockMark = []byte("locked by wfs\n")

func oursByMark(path string) bool {
	data, err := durable.ReadFile(path, int64(len(lockMark)))
	return err == nil && bytes.Equal(data, lockMark)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lockIndex takes the index of the work tree as git does, by creating index.lock, and returns what gives it back. The
// caller holds the work tree's own lock, so that a lock of ours is a leftover.
func (r *Repo) lockIndex(ctx context.Context) (unlock func(), err error) {
	path := r.indexPath() + ".lock"
	mark := filepath.Join(r.worktreeDir(), "lock-mark")
	if err := durable.MkdirAll(r.worktreeDir()); err != nil {
		return nil, err
	}
	if !oursByMark(mark) {
		if err := durable.WriteFile(mark, lockMark, 0o600); err != nil {
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
		if oursByMark(path) {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			continue
		}
		if err := w.on(ctx, r, path); err != nil {
			return nil, err
		}
	}
}

// linkOrCopy makes a new file that is whole from its first moment, or where there are no hard links, almost.
func linkOrCopy(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(lockMark)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		_ = os.Remove(to)
	}
	return err
}
