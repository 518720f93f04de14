package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Files lists git's locks in this repository: of refs, HEADs, indexes, configuration and packs.
func (r *Locks) Files(ctx context.Context) ([]LockFile, error) {
	var found []string
	for _, pattern := range []string{"*.lock", "worktrees/*/*.lock", "objects/*.lock", "objects/info/*.lock",
		"objects/info/commit-graphs/*.lock", "objects/pack/*.lock"} {
		some, err := filepath.Glob(filepath.Join(Globbed(r.git.CommonDir), filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	found = append(found, refLocks(r.git.CommonDir)...)
	noted := r.notedAnywhere()
	var list []LockFile
	for _, path := range found {
		if e := r.LockedBy(ctx, path); e != nil { // if nil, the lock was removed meanwhile
			worktree, ours := noted[path]
			list = append(list, LockFile{e, ours, worktree, lockNeeded(r.git.CommonDir, path)})
		}
	}
	return list, nil
}

// lockNeeded reports whether commands of wfs need to take a lock: that of HEAD, of the index, of packed refs, or of a
// ref of wfs.
func lockNeeded(commonDir, lock string) bool {
	switch filepath.Base(lock) {
	case "HEAD.lock", "index.lock", packedLock:
		return true
	}
	ref := nameBelow(commonDir, lock)
	return strings.HasPrefix(ref, "refs/wfs") || strings.HasPrefix(ref, "refs/heads/wfs/")
}

// Others returns a Git for each other work tree of this repository in which wfs was used, even if the work tree no
// longer exists.
func (r *Locks) Others() []*Git {
	dirs, err := os.ReadDir(filepath.Join(r.git.StateDir(), "worktrees"))
	if err != nil {
		return nil
	}
	var list []*Git
	for _, d := range dirs {
		if id := d.Name(); d.IsDir() && id != r.git.Worktree && !strings.HasPrefix(id, ".") {
			p := r.git.Place
			p.GitDir, p.Worktree, p.Scratch, p.Waits = p.CommonDir, id, "", nil
			if id != "main" {
				p.GitDir = r.git.LinkedDir(id)
			}
			list = append(list, New(p))
		}
	}
	return list
}

// LeftLocked reports whether git locks exist in the work tree that a wfs process created. That process may be running
// or not.
func (r *Locks) LeftLocked() bool {
	return len(r.leftLocks(r.NotedRefs())) > 0 || OursByMark(r.git.IndexPath()+".lock")
}

// notedAnywhere returns the existing locks that wfs processes created in any work tree, as a map from the path to the
// id of the work tree.
func (r *Locks) notedAnywhere() map[string]string {
	noted := map[string]string{}
	for _, o := range append(r.Others(), r.git) {
		for _, path := range o.Locks.leftLocks(o.Locks.NotedRefs()) {
			noted[path] = o.Worktree
		}
		if lock := o.IndexPath() + ".lock"; OursByMark(lock) {
			noted[lock] = o.Worktree
		}
	}
	return noted
}

// Found returns the git locks that exist now: those of the repository, of refs, and of this work tree's HEAD and index.
func (r *Locks) Found() []session.GitLock {
	var found []string
	for _, dir := range slices.Compact([]string{r.git.GitDir, r.git.CommonDir}) {
		some, _ := filepath.Glob(filepath.Join(Globbed(dir), "*.lock"))
		found = append(found, some...)
	}
	found = append(found, refLocks(r.git.CommonDir)...)
	var list []session.GitLock
	for _, path := range found {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		device, file, _ := durable.FileID(info)
		list = append(list, session.GitLock{Path: path, Name: nameBelow(r.git.CommonDir, path),
			File: fmt.Sprint(device, "-", file)})
	}
	return list
}

// refLocks returns the paths of the existing locks of refs. It skips unreadable directories.
func refLocks(commonDir string) []string {
	var found []string
	_ = filepath.WalkDir(filepath.Join(commonDir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".lock") {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// SetAside moves the locks to dir that still exist after LockPatience and that certainly no running process holds. It
// returns their names relative to the git directory.
func (r *Locks) SetAside(ctx context.Context, locks []session.GitLock, dir string) ([]string, error) {
	for w := (wait{}); w.waited < LockPatience && slices.ContainsFunc(locks, stillThere); {
		w.pause = min(max(firstPause, 2*w.pause), LastPause)
		if err := Pause(ctx, w.pause); err != nil {
			return nil, err
		}
		w.waited += w.pause
	}
	var moved []string
	for _, l := range locks {
		if !stillThere(l) || OursByMark(l.Path) {
			continue
		}
		if !r.LockedBy(ctx, l.Path).Deserted() {
			continue
		}
		name := nameBelow(r.git.CommonDir, l.Path)
		done, err := setLockAside(l, strings.ReplaceAll(name, "/", "_"), dir)
		if err != nil {
			return moved, err
		}
		if done {
			moved = append(moved, name)
		}
	}
	return moved, nil
}

// setLockAside moves one lock, and reports whether it did. If another process has replaced the lock meanwhile, it moves
// the new lock back.
func setLockAside(l session.GitLock, name, dir string) (bool, error) {
	if err := durable.MkdirAll(dir); err != nil {
		return false, err
	}
	kept := filepath.Join(dir, name)
	for n := 2; IsThere(kept); n++ {
		kept = filepath.Join(dir, fmt.Sprintf("%s.%d", name, n))
	}
	if err := os.Rename(l.Path, kept); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	if !stillThere(session.GitLock{Path: kept, File: l.File}) {
		if err := os.Link(kept, l.Path); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, err
		}
		return false, nil
	}
	return true, durable.SyncDir(filepath.Dir(l.Path))
}

// nameBelow returns a path relative to a git directory, with slashes.
func nameBelow(commonDir, path string) string {
	rel, err := filepath.Rel(commonDir, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// If an agent or a gate is killed while it runs git, the locks of that git stay. No other process removes them, and a
// run would wait for such an index.lock as long as it waits for a user with an open editor.

// stillThere reports whether a lock is still the same file.
func stillThere(l session.GitLock) bool {
	info, err := os.Lstat(l.Path)
	if err != nil {
		return false
	}
	device, file, _ := durable.FileID(info)
	return l.File == fmt.Sprint(device, "-", file)
}

// LockFile is an existing lock of git.
type LockFile struct {
	*LockedError
	Ours     bool   // created by wfs, or by a git that wfs ran; if that was killed, the next command removes it
	Worktree string // id of the work tree in which wfs created it, if Ours
	Needed   bool   // commands of wfs need to take it
}

// Stays reports whether the lock still exists, but no process holds it.
func (l LockFile) Stays() bool { return l.Deserted() && l.There() }

// There reports whether the lock exists now.
func (l LockFile) There() bool { return IsThere(l.Path) }

// Globbed escapes a path for use as a part of a glob pattern.
func Globbed(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
