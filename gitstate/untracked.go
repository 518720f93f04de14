package gitstate

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/session"
)

// A look at the work tree before git is let loose on it: is there anything that git does not track, and might any of it
// have to be held out? It costs a few milliseconds where nothing is found, which is nearly always, and knows nothing of
// exclude rules but for paths that were ignored before: whatever looks suspicious, git is asked about.

// looked is what a look found.
type looked struct {
	untracked bool     // something that git may have to add
	suspects  []string // files and directories that may have to be held out, sorted; a directory's path ends in a slash
	held      []string // the same, of what is held out already
}

// looker compares directories with an index. Several of them are read at the same time.
type looker struct {
	root    string
	guard   session.Guard
	size    int64
	files   int
	held    map[string]bool
	ignored map[string]bool // what the session's rules exclude by path; a directory's path ends in a slash
	fold    func() map[string]bool
	slots   chan struct{}
	wait    sync.WaitGroup

	mu sync.Mutex
	looked
}

// look looks at the whole work tree. x is its index.
func (r *Repo) look(x *index, rules []byte, g session.Guard) looked {
	l := &looker{root: r.root, guard: g, held: map[string]bool{}, ignored: map[string]bool{},
		slots: make(chan struct{}, max(runtime.NumCPU()-1, 1))}
	l.size, l.files = g.Limits()
	for _, h := range g.Held {
		l.held[h.Path] = true
	}
	for line := range bytes.Lines(rules) {
		if p := session.ExcludedPath(string(bytes.TrimSuffix(line, []byte("\n")))); p != "" {
			l.ignored[p] = true
		}
	}
	l.fold = sync.OnceValue(func() map[string]bool { return foldedPaths(x.entries) })
	l.wait.Add(1)
	l.dir("", "", x.entries)
	l.wait.Wait()
	slices.Sort(l.suspects)
	slices.Sort(l.looked.held)
	l.looked.held = slices.Compact(l.looked.held)
	return l.looked
}

// dir looks at a directory that holds something tracked: entries, whose names begin with prefix. out is the directory
// above that is held out but for what is tracked in it, "" for none.
func (l *looker) dir(prefix, out string, entries []indexEntry) {
	defer l.wait.Done()
	if l.held[prefix] {
		out = prefix
	}
	for _, e := range l.read(prefix) {
		name := e.Name()
		if name == ".git" || prefix == "" && name == userDir {
			continue
		}
		file, below := find(entries, len(prefix), name)
		switch {
		case file != nil && (!e.IsDir() || file.mode&indexType == indexGitlink):
		case e.IsDir() && len(below) > 0:
			l.wait.Add(1)
			next := prefix + name + "/"
			select {
			case l.slots <- struct{}{}:
				go func() {
					l.dir(next, out, below)
					<-l.slots
				}()
			default:
				l.dir(next, out, below)
			}
		case l.twin(prefix + name):
		case out != "" && !l.guard.Allows(prefix+name):
			l.note(func() { l.looked.held = append(l.looked.held, out) })
		default:
			left := l.files
			if !l.fresh(prefix+name, e, &left) {
				l.suspect(prefix + name + "/")
			}
		}
	}
}

func (l *looker) read(prefix string) []fs.DirEntry {
	f, err := os.Open(filepath.Join(l.root, filepath.FromSlash(prefix)))
	if err != nil {
		return nil // git says what it makes of that
	}
	defer f.Close()
	list, _ := f.ReadDir(-1)
	return list
}

// fresh looks at something untracked, and takes the files that it holds off left. It answers false when they are more.
func (l *looker) fresh(p string, e fs.DirEntry, left *int) bool {
	key := p
	if e.IsDir() {
		key += "/"
	}
	switch {
	case l.ignored[key]:
	case l.guard.Allows(p):
		l.note(func() { l.untracked = true })
	case l.held[key]:
		l.note(func() { l.looked.held = append(l.looked.held, key) })
	case keyLike(e.Name()), e.IsDir() && filled(e.Name()):
		l.suspect(key)
	case e.IsDir():
		return l.freshDir(p, left)
	default:
		l.note(func() { l.untracked = true })
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Size() > l.size {
			l.suspect(key)
		}
		*left--
		return *left >= 0
	}
	return true
}

func (l *looker) freshDir(p string, left *int) bool {
	list := l.read(p)
	if slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == ".git" }) {
		l.note(func() { l.untracked = true }) // a repository of its own: git names it
		return true
	}
	for _, e := range list {
		if !l.fresh(p+"/"+e.Name(), e, left) {
			return false
		}
	}
	return true
}

func (l *looker) suspect(p string) { l.note(func() { l.suspects = append(l.suspects, p) }) }

func (l *looker) note(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// twin reports whether git takes a path for one of its own that is written otherwise, where file systems do that.
func (l *looker) twin(p string) bool {
	return (runtime.GOOS == "darwin" || runtime.GOOS == "windows") && l.fold()[strings.ToLower(p)]
}

func foldedPaths(entries []indexEntry) map[string]bool {
	all := map[string]bool{}
	for _, e := range entries {
		for p := strings.ToLower(string(e.name)); p != "." && !all[p]; p = path.Dir(p) {
			all[p] = true
		}
	}
	return all
}

// find returns the entry called name in a directory, nil for none, and those below a directory of that name. Every entry
// begins with the directory's path, which is skip bytes long.
func find(entries []indexEntry, skip int, name string) (file *indexEntry, below []indexEntry) {
	at := func(e indexEntry, to string) int { return compare(e.name[skip:], to) }
	i, ok := slices.BinarySearchFunc(entries, name, at)
	if ok {
		return &entries[i], nil
	}
	first, _ := slices.BinarySearchFunc(entries[i:], name+"/", at)
	first += i
	if first == len(entries) || !bytes.HasPrefix(entries[first].name[skip:], []byte(name+"/")) {
		return nil, nil
	}
	end, _ := slices.BinarySearchFunc(entries[first:], name+"0", at) // the byte after the slash
	return nil, entries[first : first+end]
}

func compare(a []byte, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}
