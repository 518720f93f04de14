package snapshot

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

// `git add -A` compares every tracked file with the index, one after the other, and by seconds: mostly git is
// built so, and a file that is written to twice in one, with as many bytes, is for ever the first one to it. So
// the work tree is looked at here, by nanoseconds and on all processors, and git is told which paths to look
// at, and to read what may have changed. It is git that adds them: a path too many costs a little time.

// MaxNamed is how many paths git is told of. It compares each of them with the name of each file in the index:
// beyond this many, to look at every file is no slower.
const MaxNamed = 100

// maxFresh is how many new files are told apart; beyond it, git adds whatever is there.
const maxFresh = 4096

// looked is what a look at the work tree found. Nothing of .wfs is in it.
type looked struct {
	Changed []string // tracked files that may differ from the index, and tracked directories that are gone
	Doubted []string // those of them that git may take for unchanged
	Others  []string // what is not tracked; a directory, whose path ends in a slash, stands for all in it
	Unsure  bool     // git has to look at everything
	rules   error    // an *UnusableError: git would wait for ever where rules may be
}

// looker compares directories with an index.
type looker struct {
	repo  *Files
	index *object.Index
	empty []byte // id of an empty file
	guard session.Guard
	pass  map[string]bool

	mu    sync.Mutex
	found looked
}

// trackedDir is a directory that holds something tracked.
type trackedDir struct {
	prefix  string // its path with a slash at its end, "" for the top
	entries []object.IndexEntry
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
		found.Unsure, found.Others = true, append(found.Others, d.prefix)
	}
	defer end()
	here := map[string]bool{} // directories
	for _, e := range list {
		if notOurs(d.prefix, e.Name()) {
			continue
		}
		found.rules = cmp.Or(found.rules, readableRules(l.repo.Git.Root, filepath.Join(dir, e.Name()), e))
		here[e.Name()] = l.entry(d, e, &found)
	}
	tracked, files := d.children()
	for _, t := range tracked {
		name := t.prefix[len(d.prefix) : len(t.prefix)-1]
		switch {
		case notOurs(d.prefix, name):
		case here[name]:
			below = append(below, t)
		default:
			found.Changed = append(found.Changed, d.prefix+name)
		}
	}
	for _, e := range files {
		l.file(fd, string(e.Name[len(d.prefix):]), e, &found)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.Changed = append(l.found.Changed, found.Changed...)
	l.found.Doubted = append(l.found.Doubted, found.Doubted...)
	l.found.Others = append(l.found.Others, found.Others...)
	l.found.Unsure = l.found.Unsure || found.Unsure
	l.found.rules = cmp.Or(l.found.rules, found.rules)
	return below
}

// notOurs reports whether a name in a directory is git's or the user's own directory.
func notOurs(prefix, name string) bool {
	return prefix == "" && (name == ".git" || name == object.UserDir)
}

// entry looks at what a directory has under one name, and reports whether that is a directory that holds something
// tracked.
func (l *looker) entry(d trackedDir, e fs.DirEntry, found *looked) bool {
	name := e.Name()
	file, entries := object.Find(d.entries, len(d.prefix), name)
	switch {
	case name == ".git": // git has rules of its own for what lies in another repository
		found.Unsure = true
	case file != nil && (!e.IsDir() || file.Mode&object.IndexType == object.IndexGitlink):
	case e.IsDir() && len(entries) > 0:
		return true
	case !l.passes(d.prefix+name, e.IsDir()):
		found.Others = append(found.Others, d.prefix+name+slashOf(e))
	}
	return false
}

// readableRules is an error for rules of git's in a file that git would wait for.
func readableRules(root, file string, e fs.DirEntry) error {
	special := e.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0
	if !special || e.Name() != ".gitignore" && e.Name() != ".gitattributes" {
		return nil
	}
	return &gitcmd.UnusableError{Dir: root, Said: file + " is a FIFO, a socket or a device",
		Hint: "rm " + safetext.ShellWord(file)}
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
func (l *looker) file(dir int, name string, e *object.IndexEntry, found *looked) {
	if e.Stage != 0 || e.Intended || e.Unseen || e.Mode&object.IndexType == object.IndexGitlink {
		return // of which git has to look at everything, see comparable
	}
	f, ok := object.LookIn(dir, name)
	if ok && l.index.Unchanged(e, f, l.empty) {
		return
	}
	found.Changed = append(found.Changed, string(e.Name))
	if ok && (!e.IsOf(f) || l.index.Young(f)) {
		found.Doubted = append(found.Doubted, string(e.Name))
	}
}

// maxHollow bounds the directories that are looked into for a file.
const maxHollow = 100

// children returns the directories in d that hold something tracked, and its tracked files.
func (d trackedDir) children() (below []trackedDir, files []*object.IndexEntry) {
	for i := 0; i < len(d.entries); {
		name := d.entries[i].Name[len(d.prefix):]
		slash := bytes.IndexByte(name, '/')
		if slash < 0 {
			files = append(files, &d.entries[i])
			i++
			continue
		}
		prefix := d.entries[i].Name[:len(d.prefix)+slash+1]
		first := i
		for i < len(d.entries) && bytes.HasPrefix(d.entries[i].Name, prefix) {
			i++
		}
		below = append(below, trackedDir{string(prefix), d.entries[first:i]})
	}
	return below, files
}

// Git can be told not to look at a file (git-update-index(1)): assume-unchanged and skip-worktree are how people keep
// settings of their own in a tracked file. `git add` then passes over its edits without a word, and a checkout takes a
// file that is assumed unchanged for what the index says and overwrites it. So such files are looked at here: what is
// not as the index has it is named as not held, and moves keep away from it.

const WayUnseen = "marked assume-unchanged or skip-worktree in git"

// Look compares the work tree with its index. What is not tracked is passed over where a session's rules name it.
func (r *Guard) Look(x *object.Index, rules []byte, g session.Guard) looked {
	l := &looker{repo: r.files, index: x, guard: g, pass: map[string]bool{}}
	l.found.Unsure = !object.ComparesFiles || !x.Comparable()
	l.empty, _ = hex.DecodeString(r.Objects.NewObject("blob", nil).ID)
	for line := range bytes.Lines(rules) {
		l.pass[codec.ExcludedPath(string(bytes.TrimSuffix(line, []byte("\n"))))] = true
	}
	for _, h := range g.Held {
		l.pass[h.Path] = true
	}
	l.walk(trackedDir{entries: x.Entries})
	slices.Sort(l.found.Changed)
	slices.Sort(l.found.Others)
	return l.found
}

// hollow reports whether a directory holds nothing but directories: there is nothing in it that git could add.
func (r *Guard) hollow(p string) bool {
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
