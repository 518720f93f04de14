package gitcmd

import (
	"context"
	"path/filepath"
	"strings"
)

// LockFile is a lock of git's that is there.
type LockFile struct {
	*LockedError
	Ours     bool   // left by a git or wfs of ours that was killed, or being held by one: the next command removes it
	Worktree string // id of the work tree in which it was made, if it is ours
	Needed   bool   // commands of ours take it
}

// LockFiles lists the locks of git's in this repository: of refs, of HEADs and indexes, of configuration and packs.
func (r *Git) LockFiles(ctx context.Context) ([]LockFile, error) {
	var found []string
	for _, pattern := range []string{"*.lock", "worktrees/*/*.lock", "objects/*.lock", "objects/info/*.lock",
		"objects/info/commit-graphs/*.lock", "objects/pack/*.lock"} {
		some, err := filepath.Glob(filepath.Join(Globbed(r.CommonDir), filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	found = append(found, r.refLocks()...)
	noted := r.notedAnywhere()
	var list []LockFile
	for _, path := range found {
		if e := r.LockedBy(ctx, path); e != nil { // or it is gone by now
			worktree, ours := noted[path]
			list = append(list, LockFile{e, ours, worktree, r.lockNeeded(path)})
		}
	}
	return list, nil
}

// lockNeeded reports whether commands of ours take a lock: of HEAD, of the index, of packed refs, or of a ref of ours.
func (r *Git) lockNeeded(lock string) bool {
	switch filepath.Base(lock) {
	case "HEAD.lock", "index.lock", packedLock:
		return true
	}
	ref := r.nameBelow(lock)
	return strings.HasPrefix(ref, "refs/wfs") || strings.HasPrefix(ref, "refs/heads/wfs/")
}

// Stays reports whether nobody holds the lock, and it is there all the same.
func (l LockFile) Stays() bool { return l.Deserted() && l.There() }

// There reports whether the lock is there now.
func (l LockFile) There() bool { return IsThere(l.Path) }

// Globbed is a path in which a pattern finds nothing but itself.
func Globbed(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
