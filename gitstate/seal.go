package gitstate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/durable"
)

// What is brought to a clean tree is sealed: what each file looked like is noted, and looked at again before each use
// and after each gate. Code that runs there could change a package so that the next verdict is another one.

// caches are directories in which tools keep what they can make again, and check by themselves. Wherever they lie,
// they are neither brought nor sealed, and stay from one gate to the next.
var caches = map[string]bool{
	"__pycache__": true, ".pytest_cache": true, ".cache": true, ".vite": true, ".vite-temp": true, ".vitest": true,
	".tmp": true, ".git": true,
}

// buildDirs are what builders leave, and check by content or time. They stay as well. The file must stand beside them.
var buildDirs = map[string]string{"target": "Cargo.toml", "_build": "mix.exs", ".gradle": "settings.gradle"}

// fileState is what of a file changes with it. The time of its last change nobody can set back.
type fileState struct {
	inode   uint64
	size    int64
	mode    fs.FileMode
	changed int64 // in nanoseconds; the file's own time where the file system tells no other
}

func fileStateOf(info fs.FileInfo) fileState {
	changed, ok := changeOf(info)
	if !ok {
		changed = info.ModTime().UnixNano()
	}
	return fileState{inodeOf(info), info.Size(), info.Mode(), changed}
}

// sealedFile is a file as it was brought, and what it was copied from.
type sealedFile struct {
	own, source fileState
	loose       bool // it is not there: an environment of Python's, or the entry without a name
	leads       bool // it leads back to the work tree
}

// seal is what was brought, by path from the top. Directories end in a slash, and have no state. One without a name
// says that it is complete: which packages they are, and for which key.
type seal map[string]sealedFile

// complete notes both.
func (s seal) complete(packages []byte, key string) {
	sum := sha256.Sum256([]byte(key))
	s[""] = sealedFile{own: digestState(packages), source: digestState(sum[:]), loose: true}
}

// digestState puts the beginning of a digest in the place of a state.
func digestState(sum []byte) fileState {
	n := binary.BigEndian.Uint64
	return fileState{inode: n(sum), size: int64(n(sum[8:])), changed: int64(n(sum[16:]))}
}

// packages is the digest of what was brought.
func (s seal) packages() string {
	f := s[""].own
	return fmt.Sprintf("%016x%016x%016x", f.inode, uint64(f.size), uint64(f.changed))
}

// above are the directories that what was brought lies in.
func (s seal) above() map[string]bool {
	dirs := map[string]bool{}
	for name := range s {
		d := path.Dir(strings.TrimSuffix(name, "/"))
		for name != "" && d != "." && !dirs[d] && !s.has(d+"/") {
			dirs[d], d = true, path.Dir(d)
		}
	}
	return dirs
}

// isFor reports whether it is complete, and for a key.
func (s seal) isFor(key string) bool {
	sum := sha256.Sum256([]byte(key))
	return s.has("") && s[""].source == digestState(sum[:])
}

// readSeal reads what write wrote. What cannot be read is nothing.
func readSeal(file string) seal {
	s := seal{}
	data, _ := os.ReadFile(file)
	for len(data) > 0 {
		record, rest, _ := bytes.Cut(data, []byte{0})
		data = rest
		head, name, ok := bytes.Cut(record, []byte(" /"))
		if !ok {
			return seal{}
		}
		var n [9]uint64
		for i := range n {
			field, rest, _ := bytes.Cut(head, []byte(" "))
			head = rest
			n[i], _ = strconv.ParseUint(string(field), 36, 64)
		}
		s[string(name)] = sealedFile{fileState{n[0], int64(n[1]), fs.FileMode(n[2]), int64(n[3])},
			fileState{n[4], int64(n[5]), fs.FileMode(n[6]), int64(n[7])}, n[8]&1 != 0, n[8]&2 != 0}
	}
	return s
}

func (s seal) write(file string) error {
	b := make([]byte, 0, 128*len(s))
	for name, f := range s {
		for _, st := range []fileState{f.own, f.source} {
			for _, n := range []uint64{st.inode, uint64(st.size), uint64(st.mode), uint64(st.changed)} {
				b = append(strconv.AppendUint(b, n, 36), ' ')
			}
		}
		flags := byte('0')
		if f.loose {
			flags++
		}
		if f.leads {
			flags += 2
		}
		b = append(b, flags)
		b = append(append(append(b, " /"...), name...), 0)
	}
	return durable.WriteCache(file, b, 0o600)
}

// changed names a file below root that is not as it was sealed, "" when all are. Directories are looked at side by
// side.
func (s seal) changed(root string) string {
	l := sealLook{seal: s, root: root, room: make(chan struct{}, runtime.GOMAXPROCS(0)-1)}
	want := 0
	for name, f := range s {
		if f.loose {
			continue
		}
		want++
		// The top of what was brought: nothing above it was.
		if above := path.Dir(strings.TrimSuffix(name, "/")) + "/"; above == "./" || !s.has(above) {
			l.top(name)
		}
	}
	l.wait.Wait()
	if l.found != "" || l.same == want {
		return l.found
	}
	gone := ""
	for name, f := range s {
		if f.loose || gone != "" && gone < name {
			continue
		}
		if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			gone = name
		}
	}
	return cmp.Or(gone, ".") // it may be there again by now
}

func (s seal) has(name string) bool { _, ok := s[name]; return ok }

// sealLook is one look at all that is sealed.
type sealLook struct {
	seal seal
	root string
	room chan struct{} // for further directories at the same time
	wait sync.WaitGroup

	mu    sync.Mutex
	same  int    // that are as they were
	found string // one that is not
}

func (l *sealLook) say(same int, found string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.same += same
	if l.found == "" {
		l.found = found
	}
}

// top looks at a file or directory above which nothing was brought.
func (l *sealLook) top(name string) {
	info, err := os.Lstat(filepath.Join(l.root, filepath.FromSlash(name)))
	switch {
	case err != nil, info.IsDir() != strings.HasSuffix(name, "/"):
		l.say(0, name)
	case info.IsDir():
		same, found := l.dir(name)
		l.say(same, found)
	case fileStateOf(info) != l.seal[name].own:
		l.say(0, name)
	default:
		l.say(1, "")
	}
}

// dir looks at a directory, whose name ends in a slash, and at what is in it.
func (l *sealLook) dir(name string) (same int, found string) {
	entries, err := os.ReadDir(filepath.Join(l.root, filepath.FromSlash(name)))
	if err != nil {
		return 0, name
	}
	same = 1
	path := append(make([]byte, 0, len(name)+64), name...)
	for _, e := range entries {
		if caches[e.Name()] {
			continue
		}
		path = append(path[:len(name)], e.Name()...)
		if e.IsDir() {
			path = append(path, '/')
		}
		f, ok := l.seal[string(path)]
		if !ok {
			return same, string(path)
		}
		if e.IsDir() {
			below := string(path)
			select {
			case l.room <- struct{}{}:
				l.wait.Go(func() {
					n, found := l.dir(below)
					<-l.room
					l.say(n, found)
				})
			default:
				n, found := l.dir(below)
				if same += n; found != "" {
					return same, found
				}
			}
			continue
		}
		info, err := e.Info()
		if err != nil || fileStateOf(info) != f.own {
			return same, string(path)
		}
		same++
	}
	return same, ""
}
