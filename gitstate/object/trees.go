package object

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxNewTrees limits the trees that wfs makes itself. For more, it calls `git write-tree`, which also caches them in
// the index, so that the next time there are few again.
const MaxNewTrees = 1000

type treeBuilder struct {
	format Format
	dirty  map[string]bool
	only   bool // only the root is wanted
	made   []Object
	dirs   []*cachedTree // cached trees of the top directories
}

// root returns the entries of the root tree.
func (b *treeBuilder) root(x *Index) (entries []Entry, ok bool) {
	b.dirs, ok = b.each(x.Entries, 0, x.Cached, 0, func(mode uint32, name, id []byte) {
		entries = append(entries, Entry{fmt.Sprintf("%06o", mode), string(name), hex.EncodeToString(id)})
	})
	return entries, ok
}

// each calls add for every entry of the tree of one directory, in tree order, which is index order, and returns the
// cached trees of its subdirectories. known is the cached tree of the directory, or nil.
func (b *treeBuilder) each(files []IndexEntry, prefix int, known *cachedTree, depth int,
	add func(mode uint32, name, id []byte)) (dirs []*cachedTree, ok bool) {
	for i := 0; i < len(files); {
		f := files[i]
		name, _, isDir := bytes.Cut(f.Name[prefix:], []byte("/"))
		if f.Stage != 0 || f.Intended || len(name) == 0 || depth > maxDepth {
			return nil, false
		}
		if !isDir {
			add(f.Mode, name, f.ID)
			i++
			continue
		}
		dir := b.dir(files[i:], prefix+len(name)+1, known.dir(string(name)), depth+1)
		if dir == nil {
			return nil, false
		}
		add(indexDir, name, dir.id)
		dirs = append(dirs, dir)
		i += dir.entries
	}
	slices.SortFunc(dirs, func(a, b *cachedTree) int { return compareDirs(a.name, b.name) })
	return dirs, true
}

// dir returns the cached tree of the directory with which the first files begin; nil if git has to make it. The
// directory's path is the first prefix bytes of the first name.
func (b *treeBuilder) dir(files []IndexEntry, prefix int, known *cachedTree, depth int) *cachedTree {
	path := files[0].Name[:prefix]
	in := func(i int) bool { return i < len(files) && bytes.HasPrefix(files[i].Name, path) }
	if known != nil && known.entries > 0 && !b.dirty[string(path)] {
		if !in(known.entries-1) || in(known.entries) {
			return nil
		}
		return known
	}
	end := 1
	for in(end) {
		end++
	}
	data := make([]byte, 0, 64*min(end, 32)) // most directories fit
	dirs, ok := b.each(files[:end], prefix, known, depth, func(mode uint32, name, id []byte) {
		data = strconv.AppendUint(data, uint64(mode), 8)
		data = append(append(append(append(data, ' '), name...), 0), id...)
	})
	if !ok || len(b.made) >= MaxNewTrees {
		return nil
	}
	tree := b.format.NewObject("tree", data)
	if !b.only {
		b.made = append(b.made, tree)
	}
	id, err := hex.DecodeString(tree.ID)
	if err != nil {
		return nil
	}
	name := path[bytes.LastIndexByte(path[:prefix-1], '/')+1 : prefix-1]
	return &cachedTree{name: string(name), entries: end, id: id, dirs: dirs}
}

func (t *cachedTree) dir(name string) *cachedTree {
	if t == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(t.dirs, name,
		func(d *cachedTree, name string) int { return compareDirs(d.name, name) })
	if !ok {
		return nil
	}
	return t.dirs[i]
}

// compareDirs is git's order of directories in the tree cache.
func compareDirs(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// Append encodes the cached tree for an index file.
func (t *cachedTree) Append(b []byte) []byte {
	b = fmt.Appendf(b, "%s\x00%d %d\n", t.name, t.entries, len(t.dirs))
	if t.entries >= 0 {
		b = append(b, t.id...)
	}
	for _, d := range t.dirs {
		b = d.Append(b)
	}
	return b
}

// TreesOf makes the trees of an index that are not cached in it. It returns the entries of the root, and the new
// objects, and caches all trees in x. dirty are the directories that changed since their trees were cached (with a
// slash at their ends, "" for the top). It returns false if git has to do it: with conflicts, entries without content,
// or more than MaxNewTrees directories. It does not check that the entries' objects exist.
//
// `git write-tree` does the same, but costs one more process and one more wait for the disk; these trees are written
// together with the commit.
func (r Format) TreesOf(x *Index, dirty map[string]bool) (root []Entry, made []Object, ok bool) {
	b := treeBuilder{format: r, dirty: dirty}
	if root, ok = b.root(x); !ok {
		return nil, nil, false
	}
	o, err := r.NewTree(root)
	id, err2 := hex.DecodeString(o.ID)
	if err != nil || err2 != nil {
		return nil, nil, false
	}
	if x.Info().Tree != o.ID {
		b.made = append(b.made, o)
	}
	x.Cached = &cachedTree{entries: len(x.Entries), id: id, dirs: b.dirs}
	return root, b.made, true
}

// RootOf returns the root tree of an index, without caching anything.
func (r Format) RootOf(x *Index) (root Object, ok bool) {
	b := treeBuilder{format: r, only: true}
	entries, ok := b.root(x)
	if !ok {
		return root, false
	}
	root, err := r.NewTree(entries)
	return root, err == nil
}
