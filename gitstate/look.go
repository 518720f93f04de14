package gitstate

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// `git add -A` compares every tracked file with the index, one after the other, and by seconds: mostly git is
// built so, and a file that is written to twice in one, with as many bytes, is for ever the first one to it. So
// the work tree is looked at here, by nanoseconds and on all processors, and git is told which paths to look
// at, and to read what may have changed. It is git that adds them: a path too many costs a little time.

// maxNamed is how many paths git is told of. It compares each of them with the name of each file in the index:
// beyond this many, to look at every file is no slower.
const maxNamed = 100

// maxFresh is how many new files are told apart; beyond it, git adds whatever is there.
const maxFresh = 4096

// looked is what a look at the work tree found. Nothing of .wfs is in it.
type looked struct {
	changed []string // tracked files that may differ from the index, and tracked directories that are gone
	doubted []string // those of them that git may take for unchanged
	others  []string // what is not tracked; a directory, whose path ends in a slash, stands for all in it
	unsure  bool     // git has to look at everything
	rules   error    // an *UnusableError: git would wait for ever where rules may be
}

// look compares the work tree with its index. What is not tracked is passed over where a session's rules name it.
func (r *Repo) look(x *index, rules []byte, g session.Guard) looked {
	l := &looker{repo: r, index: x, guard: g, pass: map[string]bool{}}
	l.found.unsure = !comparesFiles || !x.comparable()
	l.empty, _ = hex.DecodeString(r.newObject("blob", nil).id)
	for line := range bytes.Lines(rules) {
		l.pass[session.ExcludedPath(string(bytes.TrimSuffix(line, []byte("\n"))))] = true
	}
	for _, h := range g.Held {
		l.pass[h.Path] = true
	}
	l.walk(trackedDir{entries: x.entries})
	slices.Sort(l.found.changed)
	slices.Sort(l.found.others)
	return l.found
}

// looker compares directories with an index.
type looker struct {
	repo  *Repo
	index *index
	empty []byte // id of an empty file
	guard session.Guard
	pass  map[string]bool

	mu    sync.Mutex
	found looked
}

// trackedDir is a directory that holds something tracked.
type trackedDir struct {
	prefix  string // its path with a slash at its end, "" for the top
	entries []indexEntry
}

// walk looks at a directory and all below it, some at the same time.
func (l *looker) walk(top trackedDir) {
	for todo := []trackedDir{top}; len(todo) > 0; {
		below := make([][]trackedDir, len(todo))
		var taken atomic.Int64
		var workers sync.WaitGroup
		for range min(runtime.NumCPU(), len(todo)) {
			workers.Go(func() {
				for i := int(taken.Add(1)) - 1; i < len(todo); i = int(taken.Add(1)) - 1 {
					below[i] = l.dir(todo[i])
				}
			})
		}
		workers.Wait()
		todo = slices.Concat(below...)
	}
}

// dir looks at a directory, and returns those in it that hold something tracked.
func (l *looker) dir(d trackedDir) (below []trackedDir) {
	var found looked
	dir := filepath.Join(l.repo.Git.Root, filepath.FromSlash(d.prefix))
	list, fd, end, err := listDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // git says what it makes of it
		found.unsure, found.others = true, append(found.others, d.prefix)
	}
	defer end()
	here := map[string]bool{} // directories
	for _, e := range list {
		name := e.Name()
		file, entries := find(d.entries, len(d.prefix), name)
		switch {
		case d.prefix == "" && (name == ".git" || name == userDir):
		case name == ".git": // git has rules of its own for what lies in another repository
			found.unsure = true
		case file != nil && (!e.IsDir() || file.mode&indexType == indexGitlink):
		case e.IsDir() && len(entries) > 0:
			here[name] = true
		case !l.passes(d.prefix+name, e.IsDir()):
			found.others = append(found.others, d.prefix+name+slashOf(e))
		}
		if special := e.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0; special &&
			(name == ".gitignore" || name == ".gitattributes") {
			file := filepath.Join(dir, name)
			found.rules = &gitcmd.UnusableError{Dir: l.repo.Git.Root, Said: file + " is a FIFO, a socket or a device",
				Hint: "rm " + safetext.ShellWord(file)}
		}
	}
	tracked, files := d.children()
	for _, t := range tracked {
		name := t.prefix[len(d.prefix) : len(t.prefix)-1]
		switch {
		case d.prefix == "" && name == userDir:
		case here[name]:
			below = append(below, t)
		default:
			found.changed = append(found.changed, d.prefix+name)
		}
	}
	for _, e := range files {
		l.file(fd, string(e.name[len(d.prefix):]), e, &found)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.changed = append(l.found.changed, found.changed...)
	l.found.doubted = append(l.found.doubted, found.doubted...)
	l.found.others = append(l.found.others, found.others...)
	l.found.unsure = l.found.unsure || found.unsure
	l.found.rules = cmp.Or(l.found.rules, found.rules)
	return below
}

func slashOf(e fs.DirEntry) string {
	if e.IsDir() {
		return "/"
	}
	return ""
}

// passes reports whether something that is not tracked is known not to be wanted, or is nothing to git.
func (l *looker) passes(p string, isDir bool) bool {
	if isDir {
		return l.pass[p+"/"] || l.repo.hollow(p)
	}
	return l.pass[p] && !l.guard.Allows(p)
}

// file compares a file with its entry.
func (l *looker) file(dir int, name string, e *indexEntry, found *looked) {
	if e.stage != 0 || e.intended || e.unseen || e.mode&indexType == indexGitlink {
		return // of which git has to look at everything, see comparable
	}
	f, ok := lookIn(dir, name)
	if ok && l.index.unchanged(e, f, l.empty) {
		return
	}
	found.changed = append(found.changed, string(e.name))
	if ok && (!e.isOf(f) || l.index.young(f)) {
		found.doubted = append(found.doubted, string(e.name))
	}
}

// maxHollow bounds the directories that are looked into for a file.
const maxHollow = 100

// hollow reports whether a directory holds nothing but directories: there is nothing in it that git could add.
func (r *Repo) hollow(p string) bool {
	todo := []string{filepath.Join(r.Git.Root, filepath.FromSlash(p))}
	for n := 0; n < len(todo); n++ {
		entries, err := os.ReadDir(todo[n])
		if err != nil {
			return false
		}
		for _, e := range entries {
			if !e.IsDir() || e.Name() == ".git" || len(todo) == maxHollow {
				return false
			}
			todo = append(todo, filepath.Join(todo[n], e.Name()))
		}
	}
	return true
}

// children returns the directories in d that hold something tracked, and its tracked files.
func (d trackedDir) children() (below []trackedDir, files []*indexEntry) {
	for i := 0; i < len(d.entries); {
		name := d.entries[i].name[len(d.prefix):]
		slash := bytes.IndexByte(name, '/')
		if slash < 0 {
			files = append(files, &d.entries[i])
			i++
			continue
		}
		prefix := d.entries[i].name[:len(d.prefix)+slash+1]
		first := i
		for i < len(d.entries) && bytes.HasPrefix(d.entries[i].name, prefix) {
			i++
		}
		below = append(below, trackedDir{string(prefix), d.entries[first:i]})
	}
	return below, files
}

// comparable reports whether the stat data in an index say all that there is to know about a file: no entries of
// submodules, conflicts, intentions, or files that git was told not to look at.
func (x *index) comparable() bool {
	return x.written > 0 && !slices.ContainsFunc(x.entries, func(e indexEntry) bool {
		return e.stage != 0 || e.intended || e.unseen || e.mode&indexType == indexGitlink
	})
}

// fileLook is what git remembers of a file: numbers of 32 bits, whatever is cut off.
type fileLook struct {
	changed, changedNano, modified, modifiedNano, device, inode, mode, user, group, size uint32
}

// The kinds of files, as systems with a stat number them and as the index does.
const (
	kindRegular = 0o100000
	kindLink    = 0o120000
)

// unchanged reports whether a file is for certain as an entry says. That is stricter than git, whose settings
// let it pass over some differences. Git sets the size of a file that it could not tell from a changed one to 0
// when it writes the index anew: only what is empty for certain may have that.
func (x *index) unchanged(e *indexEntry, f fileLook, empty []byte) bool {
	switch f.mode & indexType {
	case kindRegular:
		if e.mode&indexType != kindRegular || (e.mode^f.mode)&0o100 != 0 {
			return false
		}
	case kindLink:
		if e.mode&indexType != kindLink {
			return false
		}
	default:
		return false
	}
	return e.isOf(f) && !x.young(f) && (f.size > 0 || bytes.Equal(e.id, empty))
}

// young reports whether a file that is as git read it may have changed since without a trace in its times: it
// was modified in the second in which the files began to be looked at, or later (racy-git in git's
// documentation).
func (x *index) young(f fileLook) bool {
	newest := f.modified
	if f.changedNano == 0 { // times are whole seconds here, and that of modification can be set back
		newest = max(newest, f.changed)
	}
	return int64(newest) >= x.written
}

// isOf reports whether a file is still as it was when git read it, as far as stat data tell. The device is left
// out, as git does: it is numbered anew when a system starts.
func (e *indexEntry) isOf(f fileLook) bool {
	n := func(i int) uint32 { return binary.BigEndian.Uint32(e.stat[4*i:]) }
	return n(0) == f.changed && n(1) == f.changedNano && n(2) == f.modified && n(3) == f.modifiedNano &&
		n(5) == f.inode && n(7) == f.user && n(8) == f.group && n(9) == f.size
}

// doubt changes a private index so that git reads some of its files anew, whatever their times.
func (r *Repo) doubt(path string, x *index, files []string) error {
	if len(files) == 0 {
		return nil
	}
	for _, p := range files {
		if e, _ := find(x.entries, 0, p); e != nil {
			for _, field := range [][]byte{e.stat[8:12], e.stat[36:40]} { // modified, size
				binary.BigEndian.PutUint32(field, ^binary.BigEndian.Uint32(field))
			}
		}
	}
	if len(bytes.Trim(x.sum, "\x00")) > 0 { // else index.skipHash
		h := r.newHash()
		h.Write(x.data[:len(x.data)-len(x.sum)])
		copy(x.sum, h.Sum(nil))
	}
	return durable.WriteCache(path, x.data, 0o600)
}

// find returns the entry called name in a directory, nil for none, and those below a directory of that name.
// Every entry begins with the directory's path, which is skip bytes long.
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

// tracks reports whether an index has an entry at a path or below it.
func (x *index) tracks(p string) bool {
	file, below := find(x.entries, 0, p)
	return file != nil || len(below) > 0
}

// Git can be told not to look at a file (git-update-index(1)): assume-unchanged and skip-worktree are how people keep
// settings of their own in a tracked file. `git add` then passes over its edits without a word, and a checkout takes a
// file that is assumed unchanged for what the index says and overwrites it. So such files are looked at here: what is
// not as the index has it is named as not held, and moves keep away from it.

const wayUnseen = "marked assume-unchanged or skip-worktree in git"

// marked lists the paths of an index that git does not look at.
func (x *index) marked() (list []string) {
	for _, e := range x.entries {
		if e.unseen {
			list = append(list, string(e.name))
		}
	}
	return list
}

// present returns those of some paths of the index, marked or not, that are there as files. Of a directory that
// is not there, as most are outside of a sparse checkout, only the first path is looked for.
func (r *Repo) present(paths []string) (there []string) {
	gone := "/"
	for _, p := range paths {
		if strings.HasPrefix(p, gone) {
			continue
		}
		if info, err := r.lstat(p); err == nil {
			if !info.IsDir() {
				there = append(there, p)
			}
			continue
		}
		for dir := filepath.ToSlash(filepath.Dir(p)); dir != "."; dir = filepath.ToSlash(filepath.Dir(dir)) {
			if _, err := r.lstat(dir); err == nil {
				break
			}
			gone = dir + "/"
		}
	}
	return there
}
