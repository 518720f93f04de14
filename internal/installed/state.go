// Package installed compares two states of the directories that packages are installed into and that git ignores, such as
// node_modules and virtual environments, and says what was done there: packages that were installed, and files that no
// installation would have left so. It reads files through what it is given, and runs nothing.
package installed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Kind says who installs into a directory.
type Kind string

const (
	Node   Kind = "node"   // a node_modules
	Python Kind = "python" // a virtual environment
	Site   Kind = "site"   // a site-packages outside of the work tree, of which only what Python runs by itself is looked at
	Vendor Kind = "vendor" // vendor, of composer, Go or bundler
)

// File is one file or link.
type File struct {
	Size    int64
	Written int64 // nanoseconds
	Changed int64 // nanoseconds; 0: the system does not say
	Inode   uint64
	Run     bool   // it may be executed
	Sum     string // SHA-256 of the content, hex; "" for a link, and for files that are too large to be read
	Link    string // where a link leads to
	Version string // of a package.json
}

// Untouched reports whether a file cannot have changed since, by what the system keeps of it.
func (f File) Untouched(now File) bool {
	return f.Changed != 0 && f.Size == now.Size && f.Written == now.Written && f.Changed == now.Changed && f.Inode == now.Inode && f.Run == now.Run && f.Link == now.Link
}

// Same reports whether two files say the same, whenever they were written.
func (f File) Same(o File) bool {
	if f.Sum == "" && o.Sum == "" && f.Link == "" && o.Link == "" {
		return f.Size == o.Size && f.Written == o.Written
	}
	return f.Sum == o.Sum && f.Link == o.Link && f.Run == o.Run
}

// State is what the directories hold. Paths begin at the top of the work tree and have slashes, or are absolute for what
// lies elsewhere.
type State struct {
	Tree  string // of the work tree then; "" when nobody knows
	Roots map[string]Kind
	Files map[string]File
	// Manifests are the files of the tree that say which packages it needs. They are not kept.
	Manifests []string
}

// NewState is one without files.
func NewState() *State { return &State{Roots: map[string]Kind{}, Files: map[string]File{}} }

// Differ lists the paths that do not say the same in two states, sorted.
func (s *State) Differ(o *State) []string {
	var list []string
	for p, f := range s.Files {
		if g, ok := o.Files[p]; !ok || !f.Same(g) {
			list = append(list, p)
		}
	}
	for p := range o.Files {
		if _, ok := s.Files[p]; !ok {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}

// Skips reports whether an entry of a directory is none that a package brings, but what a tool remembers or makes again.
func Skips(dir, name string) bool {
	switch name {
	case "__pycache__", ".cache", ".pytest_cache", ".git":
		return true
	case ".bin", ".pnpm", ".store":
		return false
	}
	return strings.HasPrefix(name, ".") && (dir == "node_modules" || strings.HasSuffix(dir, "/node_modules")) || strings.HasPrefix(name, "~") && isSite(dir)
}

func isSite(dir string) bool {
	return strings.HasSuffix(dir, "/site-packages") || strings.HasSuffix(dir, "/dist-packages")
}

// MaySay reports whether Python looks at a file of a site-packages by itself, or learns from it whose files those are.
func MaySay(name string) bool {
	return strings.HasSuffix(name, ".pth") || strings.HasPrefix(name, "sitecustomize.") || strings.HasPrefix(name, "usercustomize.")
}

const header = "wfs installed 1 "

// Encode writes a state, with a sum of it.
func (s *State) Encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", s.Tree)
	for _, p := range slices.Sorted(maps.Keys(s.Roots)) {
		fmt.Fprintf(&b, "%s\t%s\n", s.Roots[p], strconv.Quote(p))
	}
	b.WriteByte('\n')
	for _, p := range slices.Sorted(maps.Keys(s.Files)) {
		f := s.Files[p]
		fmt.Fprintf(&b, "%s\t%d\t%d\t%d\t%d\t%t\t%s\t%s\t%s\n", strconv.Quote(p), f.Size, f.Written, f.Changed, f.Inode, f.Run, f.Sum, strconv.Quote(f.Link), strconv.Quote(f.Version))
	}
	sum := sha256.Sum256(b.Bytes())
	return append([]byte(header+hex.EncodeToString(sum[:])+"\n"), b.Bytes()...)
}

// Decode reads a state. It reports false for what is not whole.
func Decode(data []byte) (*State, bool) {
	rest, ok := bytes.CutPrefix(data, []byte(header))
	first, body, found := strings.Cut(string(rest), "\n")
	sum := sha256.Sum256([]byte(body))
	if !ok || !found || first != hex.EncodeToString(sum[:]) {
		return nil, false
	}
	s := NewState()
	s.Tree, body, _ = strings.Cut(body, "\n")
	roots, files, _ := strings.Cut("\n"+body, "\n\n")
	for line := range strings.Lines(strings.TrimPrefix(roots, "\n")) {
		kind, quoted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		p, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, false
		}
		s.Roots[p] = Kind(kind)
	}
	for line := range strings.Lines(files) {
		v := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(v) != 9 {
			return nil, false
		}
		var f File
		p, bad := strconv.Unquote(v[0])
		for i, to := range []*int64{&f.Size, &f.Written, &f.Changed} {
			n, err := strconv.ParseInt(v[i+1], 10, 64)
			if err != nil {
				bad = err
			}
			*to = n
		}
		var err error
		if f.Inode, err = strconv.ParseUint(v[4], 10, 64); err != nil {
			bad = err
		}
		f.Run, f.Sum = v[5] == "true", v[6]
		if f.Link, err = strconv.Unquote(v[7]); err != nil {
			bad = err
		}
		if f.Version, err = strconv.Unquote(v[8]); err != nil {
			bad = err
		}
		if bad != nil {
			return nil, false
		}
		s.Files[p] = f
	}
	return s, true
}
