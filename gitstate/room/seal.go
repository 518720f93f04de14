package room

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Installed packages in a room are sealed: wfs records the state of each file, and compares it before each use of the
// room and after each gate. Without this, code that runs in the room could change a package, and with it the next
// verdict.

// caches are directories with files that tools can create again and validate themselves. wfs never copies or seals
// them, and keeps them from one gate to the next.
var caches = map[string]bool{
	"__pycache__": true, ".pytest_cache": true, ".cache": true, ".vite": true, ".vite-temp": true, ".vitest": true,
	".tmp": true, ".git": true,
}

// buildDirs are the names of output directories that builders validate by content or time. The value is a file that
// must be next to such a directory. wfs keeps these directories, too, from one gate to the next.
var buildDirs = map[string]string{"target": "Cargo.toml", "_build": "mix.exs", ".gradle": "settings.gradle"}

// builds reports whether a directory is an output directory as in buildDirs.
func (t *treeNames) builds(rel string) bool {
	beside, ok := buildDirs[path.Base(rel)]
	return ok && t.files[path.Join(path.Dir(rel), beside)]
}

// seal has the recorded states of files, by path. The name of a directory ends in a slash, and its state is empty.
type seal map[string]string

// fileState returns a text for the state of a file, which differs after any change of the file: programs cannot set
// back the time of its last change (ctime).
func fileState(info fs.FileInfo) string {
	changed, ok := durable.ChangedAt(info)
	if !ok {
		changed = info.ModTime().UnixNano()
	}
	_, inode, _ := durable.FileID(info)
	return fmt.Sprintf("%d %d %o %d", inode, info.Size(), info.Mode(), changed)
}

func stateAt(file string) (string, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return "", err
	}
	return fileState(info), nil
}

// readSeal reads a seal that write has written, nil if there is none.
func readSeal(file string) seal {
	data, err := os.ReadFile(file)
	records := bytes.Split(data, []byte{0})
	if err != nil || len(records)%2 != 1 {
		return nil
	}
	s := make(seal, len(records)/2)
	for r := range slices.Chunk(records[:len(records)-1], 2) {
		s[string(r[0])] = string(r[1])
	}
	return s
}

func (s seal) write(file string) error {
	var b bytes.Buffer
	for name, state := range s {
		b.WriteString(name + "\x00" + state + "\x00")
	}
	return durable.WriteCache(file, b.Bytes(), 0o600)
}

// keeper returns a function that reports whether a path is sealed, or has a sealed path below it.
func (s seal) keeper() func(rel string) bool {
	names := slices.Sorted(maps.Keys(s))
	return func(rel string) bool {
		if _, ok := s[rel]; ok {
			return true
		}
		at, _ := slices.BinarySearch(names, rel+"/")
		return at < len(names) && strings.HasPrefix(names[at], rel+"/")
	}
}

// changed returns the first path (in alphabetical order) that differs from its sealed state, "" if none does.
func (s seal) changed(root string) (first string) {
	names := slices.Collect(maps.Keys(s))
	var mu sync.Mutex
	var wait sync.WaitGroup
	for part := range slices.Chunk(names, len(names)/runtime.GOMAXPROCS(0)+1) {
		wait.Go(func() {
			for _, name := range part {
				if found := s.differs(root, name); found != "" {
					mu.Lock()
					if first == "" || found < first {
						first = found
					}
					mu.Unlock()
				}
			}
		})
	}
	wait.Wait()
	return first
}

// differs returns the name of a sealed file if it has changed. For a sealed directory, it returns the name of a new
// file in it, or the directory's own name if that is gone. It returns "" if nothing differs.
func (s seal) differs(root, name string) string {
	file := filepath.Join(root, filepath.FromSlash(name))
	if !strings.HasSuffix(name, "/") {
		if now, err := stateAt(file); err != nil || now != s[name] {
			return name
		}
		return ""
	}
	info, err := os.Lstat(file)
	entries, e := os.ReadDir(file)
	if err != nil || e != nil || !info.IsDir() {
		return name
	}
	for _, e := range entries {
		below := name + e.Name()
		if e.IsDir() {
			below += "/"
		}
		if _, ok := s[below]; !ok && !caches[e.Name()] {
			return below
		}
	}
	return ""
}
