package gitstate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// LockFile is a lock of git's that is there.
type LockFile struct {
	Path string // absolute
	At   time.Time
	Ours bool // left by a git or wfs of ours that was killed, or being held by one: the next command removes it
}

// LockFiles lists the locks of git's in this repository: of refs, of HEADs and indexes, of configuration and packs.
func (r *Repo) LockFiles() ([]LockFile, error) {
	noted := map[string]bool{}
	for _, path := range r.leftLocks(r.notedRefs()) {
		noted[path] = true
	}
	var list []LockFile
	err := filepath.WalkDir(r.commonDir, func(path string, d fs.DirEntry, err error) error {
		if absent(err) || errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(r.commonDir, path)
		if d.IsDir() {
			switch filepath.ToSlash(rel) {
			case "wfs", "logs", "hooks", "modules", "lfs", "objects":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".lock") {
			return nil
		}
		if info, err := d.Info(); err == nil {
			list = append(list, LockFile{path, info.ModTime(), noted[path] || oursByMark(path)})
		}
		return nil
	})
	for _, path := range []string{"maintenance.lock", "info/commit-graph.lock", "info/commit-graphs/commit-graph-chain.lock", "pack/multi-pack-index.lock"} {
		full := filepath.Join(r.commonDir, "objects", filepath.FromSlash(path))
		if info, err := os.Lstat(full); err == nil {
			list = append(list, LockFile{Path: full, At: info.ModTime()})
		}
	}
	return list, err
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
			if strings.HasPrefix(f.Name(), "tmp_") || strings.HasPrefix(f.Name(), ".tmp-") {
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
