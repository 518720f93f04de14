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

// A git that an agent or a gate had started, and that was killed with it, leaves locks. Nobody will ever remove
// them, and a run would wait for the index's for as long as for a person with an editor open.

// Locks are git's locks that are there now: of the repository, of refs, and of this work tree's HEAD and index.
func (r *Git) Locks() []session.GitLock {
	var found []string
	for _, dir := range slices.Compact([]string{r.GitDir, r.CommonDir}) {
		some, _ := filepath.Glob(filepath.Join(Globbed(dir), "*.lock"))
		found = append(found, some...)
	}
	found = append(found, r.refLocks()...)
	var list []session.GitLock
	for _, path := range found {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		device, file, _ := durable.FileID(info)
		list = append(list, session.GitLock{Path: path, Name: r.nameBelow(path), File: fmt.Sprint(device, "-", file)})
	}
	return list
}

// refLocks are the paths of locks of refs. What cannot be looked at has none that are known.
func (r *Git) refLocks() []string {
	var found []string
	_ = filepath.WalkDir(filepath.Join(r.CommonDir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".lock") {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// SetLocksAside moves locks into a directory, if they are still there after LockPatience and it is certain that
// no living process holds them. It returns the names of those that it moved, below the git directory.
func (r *Git) SetLocksAside(ctx context.Context, locks []session.GitLock, dir string) ([]string, error) {
	for w := (wait{}); w.waited < LockPatience && slices.ContainsFunc(locks, r.stillThere); {
		w.pause = min(max(firstPause, 2*w.pause), LastPause)
		if err := Pause(ctx, w.pause); err != nil {
			return nil, err
		}
		w.waited += w.pause
	}
	var moved []string
	for _, l := range locks {
		if !r.stillThere(l) || OursByMark(l.Path) {
			continue
		}
		if e := r.LockedBy(ctx, l.Path); e == nil || !e.Deserted() {
			continue
		}
		done, err := r.setLockAside(l, dir)
		if err != nil {
			return moved, err
		}
		if done {
			moved = append(moved, r.nameBelow(l.Path))
		}
	}
	return moved, nil
}

func (r *Git) stillThere(l session.GitLock) bool {
	info, err := os.Lstat(l.Path)
	if err != nil {
		return false
	}
	device, file, _ := durable.FileID(info)
	return l.File == fmt.Sprint(device, "-", file)
}

// setLockAside moves one lock. If somebody was faster, and what was moved is another's new one, that is put back.
func (r *Git) setLockAside(l session.GitLock, dir string) (bool, error) {
	if err := durable.MkdirAll(dir); err != nil {
		return false, err
	}
	name := strings.ReplaceAll(r.nameBelow(l.Path), "/", "_")
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
	if !r.stillThere(session.GitLock{Path: kept, File: l.File}) {
		if err := os.Link(kept, l.Path); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, err
		}
		return false, nil
	}
	return true, durable.SyncDir(filepath.Dir(l.Path))
}

// nameBelow is how a path below the git directory is called, with slashes.
func (r *Git) nameBelow(path string) string {
	rel, err := filepath.Rel(r.CommonDir, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}
