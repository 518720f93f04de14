package gitstate

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxBeside bounds how many files beside a tree are looked at to tell one state of them from another.
const maxBeside = 100_000

// Beside is a digest of what lies in the work tree beside the tree of the newest Snapshot: names, sizes and times of all
// files that are not in it, ignored or not, and names of directories, but for caches that tools keep for themselves; of what
// links lead to, tracked or not, and submodules; of what the tree does not say of its own files, see onDisk; of tags, of what
// tools find in the directories above, and of the packages that Pythons elsewhere have. env is that of the gates.
// It is "" when it cannot be told whether something changed: with nested repositories, too many files, on a system that does
// not say when a file last changed, or before there was a Snapshot.
func (r *Repo) Beside(ctx context.Context, env []string) (string, error) {
	if !r.looked.Load() { // the private index is another process's, and of another tree
		return "", nil
	}
	b := &besideScan{repo: r, root: r.root}
	if t := r.last.Load(); t != nil {
		b.entries = t.added.now.entries
		b.others(t.added.others)
		b.disk = t.added.disk
		for _, p := range t.added.others {
			file, below := find(b.entries, 0, p)
			if file != nil {
				b.alike(*file)
			}
			for _, e := range below {
				b.alike(e)
			}
		}
	} else {
		x, _, err := r.readParsed(ctx, r.snapshotIndex())
		if err != nil || x == nil {
			return "", err
		}
		b.entries = x.entries
		b.dir(r.root, "", x.entries)
		for _, e := range b.entries {
			b.alike(e)
		}
	}
	b.tracked()
	b.ledUp()
	b.filtered(ctx, r, gitOpts{})
	b.above()
	b.tags(ctx)
	b.follow()
	if b.unknown {
		return "", nil
	}
	s := newSum()
	b.addTo(s)
	s.line("on disk", strconv.FormatUint(b.disk, 16))
	for _, dir := range r.pythonDirs(env) {
		if info, err := os.Stat(dir); err == nil {
			s.file(dir, info)
		}
	}
	return s.text(), nil
}

// besideScan gathers what lies beside the files of a tree, in the directory that has it and where links lead to.
type besideScan struct {
	repo    *Repo
	root    string
	entries []indexEntry // of the tree
	found   []besideFile
	links   []besideFile // with their full paths as text, to be followed
	away    []string     // directories elsewhere that links lead to, and that are looked at as a whole
	disk    uint64       // what the tree's files are like, see onDisk
	unknown bool         // it cannot be told whether something changed
}

// besideFile is a file, a directory, whose name ends in a slash and which has no info, or where a link leads.
type besideFile struct {
	name string // from the top, or from the root of the file system for what lies elsewhere
	text string
	info fs.FileInfo
}

// others looks at what a look at the work tree found to be none of its tree's files, and at all of .wfs.
func (b *besideScan) others(paths []string) {
	for _, p := range append(slices.Clone(paths), userDir) {
		info, err := b.repo.lstat(p)
		for absent(err) && path.Dir(p) != "." { // of a tracked file that is gone the directory may be left
			p = path.Dir(p)
			info, err = b.repo.lstat(p)
		}
		if absent(err) || inCache(p) {
			continue
		}
		if err != nil {
			b.unknown = true
			return
		}
		if file, below := find(b.entries, 0, p); len(below) == 0 || slices.Contains(paths, p) || p == userDir {
			b.entry(filepath.Join(b.root, filepath.FromSlash(p)), p, fs.FileInfoToDirEntry(info), file, below)
		}
	}
}

// entry looks at a file or directory. tracked is its entry in the tree, nil for none, and below are those below it.
func (b *besideScan) entry(file, name string, e fs.DirEntry, tracked *indexEntry, below []indexEntry) {
	own := strings.HasPrefix(name, userDir+"/")
	switch {
	case len(b.found) > maxBeside:
		b.unknown = true
	case b.unknown, tracked != nil && tracked.mode&indexType == indexGitlink:
	case e.IsDir():
		if len(below) == 0 || own {
			b.found = append(b.found, besideFile{name: name + "/"})
		}
		b.dir(file, name+"/", below)
	case tracked == nil || own:
		info, err := e.Info()
		if err != nil { // it changes right now
			b.unknown = true
			return
		}
		b.found = append(b.found, besideFile{name: name, info: info})
		if info.Mode()&fs.ModeSymlink != 0 {
			b.links = append(b.links, besideFile{name: name, text: file})
		}
	}
}

// dir looks at what is in a directory, whose name ends in a slash, or is "" for the top.
func (b *besideScan) dir(file, name string, entries []indexEntry) {
	list, err := os.ReadDir(file)
	if errors.Is(err, fs.ErrPermission) {
		if _, err := os.Lstat(filepath.Join(file, "x")); errors.Is(err, fs.ErrPermission) {
			return // gates cannot look into it either
		}
	}
	if err != nil { // it changes right now
		b.unknown = true
		return
	}
	for _, e := range list {
		switch {
		case e.Name() == ".git" && name == "":
		case e.Name() == ".git":
			b.unknown = true
			return
		case isCache(e.Name()):
		default:
			tracked, below := find(entries, len(name), e.Name())
			b.entry(filepath.Join(file, e.Name()), name+e.Name(), e, tracked, below)
		}
	}
}

// tracked notes the tree's own links, and looks at files that git was told not to look at as at those that it does not have;
// and at submodules, of which the tree has nothing but the commit's id.
func (b *besideScan) tracked() {
	for _, e := range b.entries {
		kind := e.mode & indexType
		if kind != kindLink && kind != indexGitlink && !e.unseen {
			continue
		}
		name := string(e.name)
		file := filepath.Join(b.root, filepath.FromSlash(name))
		if e.unseen && kind != indexGitlink {
			switch info, err := os.Lstat(file); {
			case err == nil:
				b.entry(file, name, fs.FileInfoToDirEntry(info), nil, nil)
			case !absent(err): // as it may well be, outside of a sparse checkout
				b.unknown = true
			}
			continue
		}
		if kind == kindLink {
			b.links = append(b.links, besideFile{name: name, text: file})
			continue
		}
		list, err := os.ReadDir(file)
		b.unknown = b.unknown || err != nil && !absent(err)
		for _, e := range list {
			if e.Name() != ".git" && !isCache(e.Name()) {
				b.entry(filepath.Join(file, e.Name()), name+"/"+e.Name(), e, nil, nil)
			}
		}
	}
}

// follow looks at what links lead to, as far as that is not looked at anyway. What it finds has links as well.
func (b *besideScan) follow() {
	for n := 0; n < len(b.links) && !b.unknown; n++ {
		l := b.links[n]
		to, err := os.Readlink(l.text)
		if err != nil { // of a tracked one that is no link here, or not there
			continue
		}
		b.found = append(b.found, besideFile{name: l.name, text: to})
		if !b.seen(whereTo(l.text, to)) {
			b.lookAway(l)
		}
	}
}

// whereTo is the path that a link leads to, as it is written: without regard to other links on the way. It is "" when only
// the file system can tell, because the way goes down and up again.
func whereTo(link, to string) string {
	up := true
	for part := range strings.SplitSeq(filepath.ToSlash(to), "/") {
		if part == ".." && !up {
			return ""
		}
		up = up && (part == ".." || part == ".")
	}
	if filepath.IsAbs(to) {
		return filepath.Clean(to)
	}
	return filepath.Join(filepath.Dir(link), to)
}

// seen reports whether a path is one of those that are looked at, or in the tree.
func (b *besideScan) seen(file string) bool {
	in := func(dir string) bool {
		rest, ok := strings.CutPrefix(file, dir)
		rest = filepath.ToSlash(rest)
		return ok && (rest == "" || rest[0] == '/') && !inCache(rest) && !strings.Contains(rest+"/", "/.git/")
	}
	return file != "" && (in(b.root) || slices.ContainsFunc(b.away, in))
}

// lookAway looks at what lies elsewhere.
func (b *besideScan) lookAway(l besideFile) {
	real, err := filepath.EvalSymlinks(l.text)
	if err != nil || b.seen(real) { // it leads nowhere
		return
	}
	info, err := os.Stat(real)
	switch root, e := filepath.EvalSymlinks(b.root); {
	case err != nil || e != nil:
		b.unknown = true
	case inside(real, root) && b.seen(b.root+strings.TrimPrefix(real, root)):
	case !info.IsDir():
		b.found = append(b.found, besideFile{name: filepath.ToSlash(real), info: info})
	case inside(root, real): // the work tree is a part of that, with all that wfs itself writes
		b.unknown = true
	default:
		b.away = append(b.away, real)
		b.dir(real, filepath.ToSlash(real)+"/", nil)
	}
}

func (b *besideScan) addTo(s *sum) {
	slices.SortFunc(b.found, func(a, b besideFile) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.text, b.text)) })
	b.found = slices.CompactFunc(b.found, func(a, b besideFile) bool { return a.name == b.name && a.text == b.text })
	for _, f := range b.found {
		if f.info != nil {
			s.file(f.name, f.info)
		} else {
			s.line(f.name, f.text)
		}
	}
}

// inCache reports whether a file is in a cache that a tool keeps for itself: what it remembers does not change a result.
func inCache(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if isCache(part) {
			return true
		}
	}
	return false
}

// isCache reports whether a file or directory of that name is such a cache.
func isCache(name string) bool {
	switch name {
	case "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".cache", ".vite", ".nyc_output", ".coverage", "coverage", ".tox":
		return true
	}
	return strings.HasSuffix(name, ".pyc")
}
