package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxBeside bounds how many files beside a tree are looked at to tell one state of them from another.
const maxBeside = 100_000

// Beside is a digest of what lies in the work tree beside the tree of the newest Snapshot: names, sizes and times of all
// files that are not in it, ignored or not, but for caches that tools keep for themselves; and of the packages that Pythons
// elsewhere have. env is that of the gates. It is "" when it cannot be told whether something changed: with nested
// repositories, too many files, on a system that does not say when a file last changed, or before there was a Snapshot.
func (r *Repo) Beside(ctx context.Context, env []string) (string, error) {
	if !r.looked.Load() { // the private index is another process's, and of another tree
		return "", nil
	}
	names, ok := r.othersFound()
	if !ok {
		out, err := r.git(ctx, gitOpts{env: withIndex(r.snapshotIndex())}, "ls-files", "-o", "-z")
		if err != nil {
			return "", err
		}
		names = splitZ(out)
	}
	if len(names) > maxBeside {
		return "", nil
	}
	s := newSum()
	for _, name := range names {
		if strings.HasSuffix(name, "/") {
			return "", nil
		}
		if inCache(name) {
			continue
		}
		file := filepath.Join(r.root, filepath.FromSlash(name))
		info, err := os.Lstat(file)
		if err != nil {
			return "", nil // it changes right now
		}
		if info.Mode()&os.ModeSymlink != 0 {
			to, _ := os.Readlink(file)
			s.line(name, to)
			if info, err = os.Stat(file); err != nil {
				continue
			}
		}
		s.file(name, info)
	}
	for _, dir := range r.pythonDirs(env) {
		if info, err := os.Stat(dir); err == nil {
			s.file(dir, info)
		}
	}
	return s.text(), nil
}

// othersFound are the files that are not in the newest Snapshot, as far as its look at the work tree says where they are, and
// all of .wfs, sorted; a nested repository ends in a slash. Not ok is to be left to git.
func (r *Repo) othersFound() (names []string, ok bool) {
	t := r.last.Load()
	if t == nil {
		return nil, false
	}
	var list func(p string) error
	list = func(p string) error {
		info, err := r.lstat(p)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			if file, _ := find(t.added.now.entries, 0, p); file == nil || strings.HasPrefix(p, userDir+"/") {
				names = append(names, p)
			}
			return nil
		}
		entries, err := os.ReadDir(filepath.Join(r.root, filepath.FromSlash(p)))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Name() == ".git" {
				names = append(names, p+"/")
				return nil
			}
		}
		for _, e := range entries {
			if len(names) > maxBeside {
				return nil
			}
			if err := list(p + "/" + e.Name()); err != nil {
				return err
			}
		}
		return nil
	}
	for _, p := range append(slices.Clone(t.added.others), userDir) {
		if _, err := r.lstat(p); absent(err) {
			continue
		}
		if list(p) != nil { // it changes right now, or may not be read
			return nil, false
		}
	}
	slices.Sort(names)
	return names, true
}

// inCache reports whether a file is in a cache that a tool keeps for itself: what it remembers does not change a result.
func inCache(name string) bool {
	if strings.HasSuffix(name, ".pyc") {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".cache", ".vite", ".nyc_output", ".coverage", "coverage", ".tox":
			return true
		}
	}
	return false
}
