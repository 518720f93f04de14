package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/proc"
)

// gits lists the git processes that run in a work tree or the git directory of this repository. known is false if this
// system cannot list them.
func (r *Git) gits(ctx context.Context) (list []proc.Process, known bool) {
	main, err := r.MainWorktree(ctx)
	if err != nil {
		return nil, false
	}
	dirs := []string{r.Root, r.CommonDir, main}
	linked, err := os.ReadDir(filepath.Join(r.CommonDir, "worktrees"))
	if err != nil && !Absent(err) {
		return nil, false
	}
	for _, d := range linked {
		path, err := LinkedPath(filepath.Join(r.CommonDir, "worktrees", d.Name()))
		if err != nil {
			return nil, false
		}
		dirs = append(dirs, path)
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
	for i, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dirs[i] = real
		}
	}
	return proc.Working("git", dirs...)
}

// LockPatience is how long one command waits, in all, for git locks of other processes. Git holds its locks only for
// moments. But while a user has an editor open for `git commit`, git holds index.lock all the time.
const LockPatience = 2 * time.Second

// Pauses between checks of a lock: short at first, because most locks disappear at once.
const (
	firstPause = 5 * time.Millisecond
	LastPause  = 200 * time.Millisecond
)

// LockedError means that another process has held a git lock for longer than the command waits.
type LockedError struct {
	Path string
	Age  time.Duration // time since the file was written, by the clock of its file system
	// Holders are the processes that have the file open. AtWork are the git processes in this repository: a git that
	// waits for an editor holds index.lock without having it open.
	Holders, AtWork []proc.Process
	Known           bool // false if this system cannot list these processes
}

func (e *LockedError) Error() string {
	lock := fmt.Sprintf("git's lock %s is %s old", e.Path, Old(e.Age))
	switch {
	case len(e.Holders) > 0:
		return lock + ", and held by " + processes(e.Holders)
	case len(e.AtWork) > 0:
		return lock + "; no process has it open, but git is running here: " + processes(e.AtWork)
	case e.Known:
		return lock + ", and no process holds it"
	}
	return lock + ", and this system cannot show which process holds it"
}

// Old returns a duration in seconds, minutes or hours, for messages.
func Old(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

func processes(list []proc.Process) string {
	const shown = 3
	var all []string
	for _, p := range list[:min(shown, len(list))] {
		all = append(all, fmt.Sprintf("`%s` (pid %d)", p.Command, p.PID))
	}
	text := strings.Join(all, ", ")
	if more := len(list) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Deserted reports whether certainly no process holds the lock. It returns false if this system cannot tell.
func (e *LockedError) Deserted() bool {
	return e != nil && e.Known && len(e.Holders) == 0 && len(e.AtWork) == 0
}

// LockedBy returns which processes hold a lock, and its age. It returns nil if the lock no longer exists.
func (r *Locks) LockedBy(ctx context.Context, path string) *LockedError {
	st, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	e := &LockedError{Path: path, Age: max(0, r.git.FileAge(st))}
	e.Holders, e.Known = proc.Holding(path)
	if gits, known := r.git.gits(ctx); known {
		for _, p := range gits {
			if !p.Child {
				e.AtWork = append(e.AtWork, p)
			}
		}
	} else {
		e.Known = false
	}
	return e
}

// WaitOn makes this command wait longer for locks than LockPatience. From then on, longer is called repeatedly, with
// the time waited and what is known of the lock; the command waits as long as longer returns true.
func (r *Locks) WaitOn(longer func(waited time.Duration, e *LockedError) bool) { r.longer = longer }

// wait is the state of waiting for one lock.
type wait struct {
	pause, waited time.Duration
	told          *LockedError
}

// on pauses, because the lock at a path exists. If the command has waited long enough, it returns a *LockedError
// instead.
func (w *wait) on(ctx context.Context, r *Locks, path string) error {
	w.pause = min(max(firstPause, 2*w.pause), LastPause)
	if r.waited.Load() >= int64(LockPatience) {
		if w.told == nil || r.longer == nil {
			if w.told = r.LockedBy(ctx, path); w.told == nil {
				return nil // the lock was removed just now
			}
		}
		if r.longer == nil || !r.longer(w.waited, w.told) {
			return w.told
		}
	}
	if err := Pause(ctx, w.pause); err != nil {
		return err
	}
	w.waited += w.pause
	r.waited.Add(int64(w.pause))
	return nil
}

// refused finds the path of the lock in git's error message. The message is in English, because git runs with LC_ALL=C.
var refused = lazyregexp.New(`Unable to create '(.+\.lock)': File exists`)

// lockIn returns the path of the lock because of which git failed, "" if git failed for another reason.
func lockIn(err error) string {
	var failed *GitError
	if !errors.As(err, &failed) {
		return ""
	}
	if m := refused.FindStringSubmatch(failed.Stderr); m != nil {
		return m[1]
	}
	return ""
}

// patiently runs a git command that moves refs, and runs it again while the lock of another process makes it fail. This
// is safe: a git that does not get a lock has moved nothing.
func (r *Locks) patiently(ctx context.Context, git func() error) error {
	for w := (wait{}); ; {
		err := git()
		lock := lockIn(err)
		if lock == "" {
			return err
		}
		for there := true; there; there = IsThere(lock) {
			if r.leftByUs(lock) {
				if err := r.HealRefLocks(ctx); err != nil {
					return err
				}
				if !IsThere(lock) {
					break
				}
			}
			if err := w.on(ctx, r, lock); err != nil {
				return err
			}
		}
	}
}

// AwaitRefLocks waits until no other process holds the lock of HEAD or of the given refs, which the caller is about to
// move. It ignores locks that a killed git of wfs left, because HealLocks removes them. If a lock cannot be created
// because its directory is not writable, the error is an *UnusableError.
func (r *Locks) AwaitRefLocks(ctx context.Context, refs ...string) error {
	for _, ref := range append(refs, "HEAD") {
		path := r.LockOf(ref)
		if path == "" {
			continue
		}
		if err := await(ctx, r, path, func() bool { return !IsThere(path) || IsThere(r.lockNote(ref)) }); err != nil {
			return err
		}
		dir := filepath.Dir(path)
		for !IsThere(dir) {
			dir = filepath.Dir(dir)
		}
		if !Writable(dir) {
			return &UnusableError{Dir: dir, Said: "the directory cannot be written to", Hint: "chmod u+w " + dir}
		}
	}
	return nil
}

// await waits until `free` returns true, or returns a *LockedError for the lock at a path.
func await(ctx context.Context, r *Locks, path string, free func() bool) error {
	for w := (wait{}); !free(); {
		if err := w.on(ctx, r, path); err != nil {
			return err
		}
	}
	return nil
}

// IsThere reports whether a path exists. It does not follow symbolic links.
func IsThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Waited returns how long this command has waited, in all, for locks of other processes.
func (r *Locks) Waited() time.Duration { return time.Duration(r.waited.Load()) }
