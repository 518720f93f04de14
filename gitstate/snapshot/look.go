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

// `git add -A` compares the tracked files with the index one after the other, and most builds of git compare times in
// seconds. If a file is written twice within a second with the same size, git never notices the second version. So wfs
// first looks at the work tree itself, in nanoseconds and on all processors. It passes the paths that may have changed
// to `git add`, and makes git read these files. If a file did not change, that only costs time.

// MaxNamed limits the paths that are passed to git by name. Git compares each of them with the name of every file in
// the index: with more paths, adding the whole work tree is as fast.
const MaxNamed = 100

// maxFresh limits how many new files are passed to git by name. If there are more, git adds all new files that it
// finds.
const maxFresh = 4096

// looked is the result of a look at the work tree, without .wfs.
type looked struct {
	Changed []string // tracked files that may differ from the index, and tracked directories that are missing
	Doubted []string // paths in Changed that git may regard as unchanged
	Others  []string // untracked paths; a directory, with a slash at its end, stands for everything in it
	Unsure  bool     // git has to look at the whole work tree
	rules   error    // an *UnusableError: git would wait forever for a file of rules
}

// looker compares the directories of the work tree with an index.
type looker struct {
	repo  *Files
	index *object.Index
	empty []byte // id of an empty file
	guard session.Guard
	pass  map[string]bool

	mu    sync.Mutex
	found looked
}

// trackedDir is a directory with tracked files in or below it.
type trackedDir struct {
	prefix  string // path with a slash at its end, "" for the top
	entries []object.IndexEntry
}

// walk compares a directory and everything below it with the index, several directories at a time.
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

// dir compares one directory with the index, and returns its subdirectories that contain tracked files.
func (l *looker) dir(d trackedDir) (below []trackedDir) {
	var found looked
	dir := filepath.Join(l.repo.Git.Root, filepath.FromSlash(d.prefix))
	list, fd, end, err := listDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // `git add` reports the problem
		found.Unsure, found.Others = true, append(found.Others, d.prefix)
	}
	defer end()
	here := map[string]bool{} // names of directories
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

// notOurs reports whether a name in a directory is .git or the user's own directory, .wfs.
func notOurs(prefix, name string) bool {
	return prefix == "" && (name == ".git" || name == object.UserDir)
}

// entry examines one entry of a directory, and reports whether it is a subdirectory that contains tracked files.
func (l *looker) entry(d trackedDir, e fs.DirEntry, found *looked) bool {
	name := e.Name()
	file, entries := object.Find(d.entries, len(d.prefix), name)
	switch {
	case name == ".git": // a nested repository, in which git follows rules of its own
		found.Unsure = true
	case file != nil && (!e.IsDir() || file.Mode&object.IndexType == object.IndexGitlink):
	case e.IsDir() && len(entries) > 0:
		return true
	case !l.passes(d.prefix+name, e.IsDir()):
		found.Others = append(found.Others, d.prefix+name+slashOf(e))
	}
	return false
}

// readableRules returns an error if a .gitignore or .gitattributes is a special file: git would wait forever to read a
// FIFO.
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

// passes reports whether an untracked path can be skipped: the session's rules exclude it, or it is a directory with
// nothing that git could add.
func (l *looker) passes(p string, isDir bool) bool {
	if isDir {
		return l.pass[p+"/"] || l.repo.hollow(p)
	}
	return l.pass[p] && !l.guard.Allows(p)
}

// file compares a tracked file with its index entry.
func (l *looker) file(dir int, name string, e *object.IndexEntry, found *looked) {
	if e.Stage != 0 || e.Intended || e.Unseen || e.Mode&object.IndexType == object.IndexGitlink {
		return // with such an entry git has to look at everything, see Comparable
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

// maxHollow limits the directories that hollow searches for a file.
const maxHollow = 100

// children returns the subdirectories of d that contain tracked files, and the tracked files directly in d.
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

// Users can make git ignore edits of a tracked file, for example to keep local settings in it (assume-unchanged and
// skip-worktree, git-update-index(1)). `git add` then silently skips the edits. A checkout assumes that a file marked
// assume-unchanged is as in the index, and overwrites it. So wfs compares such files itself: a snapshot reports those
// that differ as skipped, and moves do not touch them.

const WayUnseen = "marked assume-unchanged or skip-worktree in git"

// Look compares the work tree with its index. It skips untracked paths that the session's rules or its guard exclude.
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

// hollow reports whether a directory contains nothing but directories, so that git has nothing to add in it.
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
