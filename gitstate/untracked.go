package gitstate

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
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

// looked is what a look found, sorted. A directory's path ends in a slash.
type looked struct {
	suspects []string // files and directories that may have to be held out
	held     []string // the same, of what is held out already
	others   bool     // there may be something that is not tracked, of whatever kind
	changed  []string // what is not tracked, and tracked files that may differ from the index; a directory stands for all in it
	unsure   bool     // there may be more of that
	rules    error    // see rulesIn
}

// looker compares directories with an index.
type looker struct {
	root    string
	guard   session.Guard
	size    int64
	files   int
	held    map[string]bool
	ignored map[string]bool // what the session's rules exclude by path; a directory's path ends in a slash
	fold    func() map[string]bool
	seen    map[string]seenDir // of earlier looks
	device  uint64             // whose directories tell when they changed, 0 for none
	now     func() uint64      // by the file system's clock, in nanoseconds
	index   *index
	empty   []byte                                         // id of an empty file
	suspect func(path string) (session.HoldReason, string) // see Repo.suspect

	mu    sync.Mutex // guards what follows
	scans map[string]scanned
	found looked
	again map[string]seenDir // for later looks
	todo  []trackedDir
	busy  int // workers that may find more to do
	more  *sync.Cond
}

// trackedDir is a directory that holds something tracked.
type trackedDir struct {
	prefix  string // its path with a slash at its end, "" for the top
	out     string // the directory above that is held out but for what is tracked in it, "" for none
	entries []indexEntry
}

// scanned is what a directory is like without regard to rules.
type scanned struct {
	stamp     dirStamp
	clean     bool // it is there, and its stamp tells when it changed
	tracked   []trackedDir
	names     uint64   // a sum of what is tracked in it
	differing []string // names of tracked files that may differ from the index
	compared  bool     // differing are all of them
}

// newLooker is for one look at the work tree that has this index.
func (r *Repo) newLooker(x *index) *looker {
	l := &looker{root: r.root, suspect: r.suspect, todo: []trackedDir{{entries: x.entries}}, device: tellingDevice(r.root), index: x, now: sync.OnceValue(r.treeTime)}
	l.empty, _ = hex.DecodeString(r.newObject("blob", nil).id)
	l.found.unsure = !x.comparable()
	l.more = sync.NewCond(&l.mu)
	return l
}

// look looks at the whole work tree. x is its index. What was found ahead is used once.
func (r *Repo) look(x *index, rules []byte, g session.Guard) looked {
	l := r.newLooker(x)
	l.guard, l.held, l.ignored, l.seen, l.again = g, map[string]bool{}, map[string]bool{}, r.seenDirs(), map[string]seenDir{}
	if x.scans != nil {
		l.scans, l.now = x.scans, func() uint64 { return x.scanned }
		x.scans = nil
	}
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
	l.walk(max(runtime.NumCPU(), 2), l.dir)
	if !maps.Equal(l.seen, l.again) {
		r.keepSeen(l.again)
	}
	slices.Sort(l.found.suspects)
	slices.Sort(l.found.held)
	slices.Sort(l.found.changed)
	l.found.held = slices.Compact(l.found.held)
	return l.found
}

// walk calls dir for every directory with something tracked, some at the same time.
func (l *looker) walk(atOnce int, dir func(trackedDir) []trackedDir) {
	var done sync.WaitGroup
	for range atOnce {
		done.Go(func() { l.work(dir) })
	}
	done.Wait()
}

// work looks at directories until there are none and nobody can find more.
func (l *looker) work(dir func(trackedDir) []trackedDir) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for len(l.todo) == 0 {
			if l.busy == 0 {
				l.more.Broadcast()
				return
			}
			l.more.Wait()
		}
		last := len(l.todo) - 1
		d := l.todo[last]
		l.todo = l.todo[:last]
		l.busy++
		l.mu.Unlock()
		below := dir(d)
		l.mu.Lock()
		l.busy--
		l.todo = append(l.todo, below...)
		if len(below) > 1 || l.busy == 0 {
			l.more.Broadcast()
		}
	}
}

// dir looks at a directory, and returns those in it that hold something tracked.
func (l *looker) dir(d trackedDir) (below []trackedDir) {
	if l.held[d.prefix] {
		d.out = d.prefix
	}
	var s scanned
	if d.out == "" {
		if s = l.scan(d); s.clean {
			if !s.compared {
				l.doubt()
			}
			for _, name := range s.differing {
				l.change(d.prefix + name)
			}
			if l.seen[d.prefix] == (seenDir{s.stamp, s.names}) {
				l.remember(d.prefix, seenDir{s.stamp, s.names})
				return s.tracked
			}
		}
	}
	if !s.clean {
		l.doubt()
	}
	now := l.now() // before it is listed: what comes into it after that has a later time than what was settled by then
	list, whole := l.read(d.prefix)
	if !whole {
		l.doubt()
	}
	for _, e := range list {
		name := e.Name()
		switch {
		case d.prefix == "" && (name == ".git" || name == userDir):
			continue
		case name == ".git":
			whole = false // git has rules of its own for what lies in another repository
			l.doubt()
			continue
		}
		if kindOf(e.Type()) != "" && (name == ".gitignore" || name == ".gitattributes") {
			l.mu.Lock()
			l.found.rules = cmp.Or(rulesIn(l.root, filepath.Join(l.root, filepath.FromSlash(d.prefix))), l.found.rules)
			l.mu.Unlock()
		}
		file, entries := find(d.entries, len(d.prefix), name)
		switch {
		case file != nil && (!e.IsDir() || file.mode&indexType == indexGitlink):
			continue
		case e.IsDir() && len(entries) > 0:
			below = append(below, trackedDir{d.prefix + name + "/", d.out, entries})
			continue
		}
		whole = false
		l.change(d.prefix + name)
		switch {
		case l.twin(d.prefix + name):
		case d.out != "" && !l.guard.Allows(d.prefix+name):
			l.note(&l.found.held, d.out)
		default:
			left := l.files
			if !l.fresh(d.prefix+name, e, &left) {
				l.note(&l.found.suspects, d.prefix+name+"/")
			}
		}
	}
	if len(below) < len(s.tracked) { // what is gone is not in the list
		there := map[string]bool{}
		for _, b := range below {
			there[b.prefix] = true
		}
		for _, t := range s.tracked {
			if !there[t.prefix] {
				l.change(strings.TrimSuffix(t.prefix, "/"))
			}
		}
	}
	switch {
	case !whole:
		l.mu.Lock()
		l.found.others = true
		l.mu.Unlock()
	case s.clean && s.stamp.settled(now):
		l.remember(d.prefix, seenDir{s.stamp, s.names})
	}
	return below
}

// scan compares the tracked files of a directory with the index, unless git has to look at everything anyway, or takes
// what was found ahead.
func (l *looker) scan(d trackedDir) (s scanned) {
	l.mu.Lock()
	unsure := l.found.unsure
	s, ok := l.scans[d.prefix]
	l.mu.Unlock()
	if ok {
		return s
	}
	if s.stamp, s.clean = stampOf(filepath.Join(l.root, filepath.FromSlash(d.prefix)), l.device); !s.clean {
		return s
	}
	var files []*indexEntry
	s.tracked, files, s.names = d.children()
	if !unsure {
		s.differing, s.compared = l.index.differing(l.root, d.prefix, files, l.empty)
	}
	return s
}

// change notes a path that git has to look at. .wfs is none of them.
func (l *looker) change(p string) {
	if p == userDir || strings.HasPrefix(p, userDir+"/") {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.found.changed) == maxChanged {
		l.found.unsure = true
		return
	}
	l.found.changed = append(l.found.changed, p)
}

// doubt says that git has to look at everything.
func (l *looker) doubt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.unsure = true
}

func (l *looker) remember(prefix string, d seenDir) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.again[prefix] = d
}

// read lists a directory, and reports whether that is all of it. Of what cannot be read git says what it makes of it.
func (l *looker) read(prefix string) (list []fs.DirEntry, whole bool) {
	f, err := os.Open(filepath.Join(l.root, filepath.FromSlash(prefix)))
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	list, err = f.ReadDir(-1)
	return list, err == nil
}

// fresh looks at something untracked, and takes the files that it holds off left. It answers false when they are more.
func (l *looker) fresh(p string, e fs.DirEntry, left *int) bool {
	key := p
	if e.IsDir() {
		key += "/"
	}
	switch {
	case l.ignored[key], l.guard.Allows(p):
	case l.held[key]:
		l.note(&l.found.held, key)
	case e.IsDir() && (filled(e.Name()) || e.Name() == ".env"), !e.IsDir() && keyLike(e.Name()): // a link as well
		l.note(&l.found.suspects, key)
	case e.IsDir():
		return l.freshDir(p, left)
	default:
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && (info.Size() > l.size || !l.harmless(p)) {
			l.note(&l.found.suspects, key)
		}
		*left--
		return *left >= 0
	}
	return true
}

// harmless reports whether there is no reason to hold a file out but its size. One that was looked at before is not read again.
func (l *looker) harmless(p string) bool {
	f, ok := lookAt(filepath.Join(l.root, filepath.FromSlash(p)))
	seen := seenDir{f.stamp(), uint64(f.size)}
	seen.stamp.inode = uint64(f.inode)
	if ok = ok && l.device != 0; ok && l.seen[p] == seen {
		l.remember(p, seen)
		return true
	}
	now := l.now() // before it is read
	if why, _ := l.suspect(p); why != "" {
		return false
	}
	if ok && seen.stamp.settled(now) {
		l.remember(p, seen)
	}
	return true
}

func (l *looker) freshDir(p string, left *int) bool {
	list, _ := l.read(p)
	if slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == ".git" }) {
		return true // a repository of its own: git names it
	}
	for _, e := range list {
		if !l.fresh(p+"/"+e.Name(), e, left) {
			return false
		}
	}
	return true
}

func (l *looker) note(list *[]string, p string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*list = append(*list, p)
}

// twin reports whether git takes a path for one of its own that is written otherwise, where file systems do that.
func (l *looker) twin(p string) bool {
	return runtime.GOOS == "darwin" && l.fold()[strings.ToLower(p)]
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
