package gitstate

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// LockFile is a lock of git's that is there.
type LockFile struct {
	*LockedError
	Ours     bool   // left by a git or wfs of ours that was killed, or being held by one: the next command removes it
	Worktree string // id of the work tree in which it was made, if it is ours
	Needed   bool   // commands of ours take it
}

// LockFiles lists the locks of git's in this repository: of refs, of HEADs and indexes, of configuration and packs.
func (r *Repo) LockFiles(ctx context.Context) ([]LockFile, error) {
	var found []string
	for _, pattern := range []string{"*.lock", "worktrees/*/*.lock", "objects/*.lock", "objects/info/*.lock", "objects/info/commit-graphs/*.lock", "objects/pack/*.lock"} {
		some, err := filepath.Glob(filepath.Join(globbed(r.commonDir), filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	found = append(found, r.refLocks()...)
	noted := r.notedAnywhere()
	var list []LockFile
	for _, path := range found {
		if e := r.lockedBy(ctx, path); e != nil { // or it is gone by now
			worktree, ours := noted[path]
			list = append(list, LockFile{e, ours, worktree, r.lockNeeded(path)})
		}
	}
	return list, nil
}

// lockNeeded reports whether commands of ours take a lock: of HEAD, of the index, of packed refs, or of a ref of ours.
func (r *Repo) lockNeeded(lock string) bool {
	switch filepath.Base(lock) {
	case "HEAD.lock", "index.lock", packedLock:
		return true
	}
	ref := r.nameBelow(lock)
	return strings.HasPrefix(ref, "refs/wfs") || strings.HasPrefix(ref, branchPrefix)
}

// Stays reports whether nobody holds the lock, and it is there all the same.
func (l LockFile) Stays() bool { return l.Deserted() && isThere(l.Path) }

// globbed is a path in which a pattern finds nothing but itself.
func globbed(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

// Leftovers are files among the objects that belong to nothing.
type Leftovers struct {
	Temporary int   // files that were being written
	Bytes     int64 // of those
	Newest    time.Time
	Orphans   []string // paths of pack indexes without their pack, and of packs without their index
	Keeps     []string // paths of marks that keep packs from being merged, of a fetch or push that was killed
}

// Leftovers looks for what killed processes left among the objects.
func (r *Repo) Leftovers() (Leftovers, error) {
	var l Leftovers
	objects := filepath.Join(r.commonDir, "objects")
	dirs, err := os.ReadDir(objects)
	if err != nil {
		return l, ignoreAbsent(err)
	}
	temporary := func(path string, d fs.DirEntry) {
		if info, err := d.Info(); err == nil {
			l.Temporary++
			l.Bytes += info.Size()
			if info.ModTime().After(l.Newest) {
				l.Newest = info.ModTime()
			}
		}
	}
	for _, d := range dirs {
		dir := filepath.Join(objects, d.Name())
		if strings.HasPrefix(d.Name(), "tmp_") {
			temporary(dir, d)
		}
		if len(d.Name()) != 2 && d.Name() != "pack" {
			continue
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			if absent(err) {
				continue
			}
			return l, err
		}
		have := map[string]bool{}
		for _, f := range files {
			have[f.Name()] = true
		}
		for _, f := range files {
			if strings.HasPrefix(f.Name(), "tmp_") || strings.HasPrefix(f.Name(), "wfs_tmp_") || strings.HasPrefix(f.Name(), ".tmp-") {
				temporary(filepath.Join(dir, f.Name()), f)
			}
			base, ext := strings.TrimSuffix(f.Name(), filepath.Ext(f.Name())), filepath.Ext(f.Name())
			path := filepath.Join(dir, f.Name())
			switch {
			case !strings.HasPrefix(base, "pack-"):
			case ext == ".pack" && !have[base+".idx"], ext == ".idx" && !have[base+".pack"]:
				l.Orphans = append(l.Orphans, path)
			case ext == ".keep":
				if text, err := os.ReadFile(path); err == nil && (strings.HasPrefix(string(text), "fetch-pack ") || strings.HasPrefix(string(text), "receive-pack ")) {
					l.Keeps = append(l.Keeps, path)
				}
			}
		}
	}
	return l, nil
}
