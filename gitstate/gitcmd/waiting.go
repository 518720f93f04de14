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

// gits lists the git processes that run in this repository.
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

// LockPatience is how long one command waits, in all, for git locks of other processes. Git holds them only for
// moments; but a user with an open editor holds index.lock all the time.
const LockPatience = 2 * time.Second

// Pauses between checks of a lock: short at first, because most locks disappear at once.
const (
	firstPause = 5 * time.Millisecond
	LastPause  = 200 * time.Millisecond
)

// LockedError means that another process holds a git lock for longer than the command waits.
type LockedError struct {
	Path string
	Age  time.Duration // since the file was written, by its file system's clock
	// Holders have the file open. AtWork are git processes in this repository: one that waits for an editor holds
	// index.lock without having it open.
	Holders, AtWork []proc.Process
	Known           bool // whether this system can list them
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

// Deserted reports whether certainly no process holds the lock; false if this system cannot tell.
func (e *LockedError) Deserted() bool {
	return e != nil && e.Known && len(e.Holders) == 0 && len(e.AtWork) == 0
}

// LockedBy returns the known facts about a lock, nil if it no longer exists.
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

// WaitOn allows a command to wait longer for a lock than LockPatience: longer is then called repeatedly, with the time
// waited and the facts about the lock. The command waits as long as it returns true.
func (r *Locks) WaitOn(longer func(waited time.Duration, e *LockedError) bool) { r.longer = longer }

// wait is the state of waiting for one lock.
type wait struct {
	pause, waited time.Duration
	told          *LockedError
}

// on pauses because a lock exists. After the command has waited long enough, it returns a *LockedError.
func (w *wait) on(ctx context.Context, r *Locks, path string) error {
	w.pause = min(max(firstPause, 2*w.pause), LastPause)
	if r.waited.Load() >= int64(LockPatience) {
		if w.told == nil || r.longer == nil {
			if w.told = r.LockedBy(ctx, path); w.told == nil {
				return nil // gone just now
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

// refused finds the lock's path in git's error message. It is always in English: git runs with LC_ALL=C.
var refused = lazyregexp.New(`Unable to create '(.+\.lock)': File exists`)

// lockIn returns the lock that made git fail, "" if it failed for another reason.
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

// patiently runs a git command that moves refs, again while a lock of another process makes it fail: a git that does
// not get a lock has moved nothing.
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

// AwaitRefLocks waits until no other process holds locks of the given refs, which are about to be moved, or of HEAD. It
// ignores locks that a killed git of wfs left: HealLocks removes them. A directory that cannot be written is an
// *UnusableError.
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

func await(ctx context.Context, r *Locks, path string, free func() bool) error {
	for w := (wait{}); !free(); {
		if err := w.on(ctx, r, path); err != nil {
			return err
		}
	}
	return nil
}

func IsThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Waited returns how long this command has waited, in all, for locks of other processes.
func (r *Locks) Waited() time.Duration { return time.Duration(r.waited.Load()) }
