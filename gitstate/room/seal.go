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

// What is installed in a room is sealed: the state of each file is noted, and compared before each use and after each
// gate. Code that runs there could change a package so that the next verdict is another one.

// caches are directories in which tools keep what they can make again, and check by themselves. Wherever they lie,
// they are neither copied nor sealed, and stay from one gate to the next.
var caches = map[string]bool{
	"__pycache__": true, ".pytest_cache": true, ".cache": true, ".vite": true, ".vite-temp": true, ".vitest": true,
	".tmp": true, ".git": true,
}

// buildDirs are what builders leave, and check by content or time. They stay as well. The file must stand beside them.
var buildDirs = map[string]string{"target": "Cargo.toml", "_build": "mix.exs", ".gradle": "settings.gradle"}

// builds reports whether a directory is one that builders keep.
func (t *treeNames) builds(rel string) bool {
	beside, ok := buildDirs[path.Base(rel)]
	return ok && t.files[path.Join(path.Dir(rel), beside)]
}

// seal is the state of files by path. Directories end in a slash, and have none.
type seal map[string]string

// fileState is what of a file changes with it. The time of its last change cannot be set back.
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

// readSeal reads what write wrote, nil when there is none.
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

// keeper reports for a path whether it is sealed, or something below it.
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

// changed names a file below root that is not as it was sealed, "" when all are: the first one.
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

// differs names a sealed file when it has changed, or a new file of a sealed directory.
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
