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

// MaxNewTrees limits the trees that wfs makes itself. If there are more, it runs `git write-tree`, which also caches
// them in the index, so that there are few the next time.
const MaxNewTrees = 1000

// treeBuilder makes the trees of an index that are not cached in it.
type treeBuilder struct {
	format Format
	dirty  map[string]bool
	only   bool // make only the root, and no objects for the trees below
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

// each calls add for every entry of one directory's tree, in the order of the tree, which is also that of the index. It
// returns the cached trees of the subdirectories. known is the cached tree of the directory, or nil. ok is false if git
// has to make the tree.
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

// dir returns the cached tree of the directory to which the first of the files belong, or nil if git has to make the
// tree. The path of the directory is the first prefix bytes of the first name.
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

// compareDirs compares two names in the order in which git sorts directories in the tree cache.
func compareDirs(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// Append appends the encoded cached tree, as in an index file, to b.
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

// TreesOf makes the trees of an index that are not cached in it. It returns the entries of the root and the new
// objects, and caches all trees in x. dirty has the directories that changed since their trees were cached (with a
// slash at the end, "" for the top). ok is false if git has to make the trees: there are conflicts, entries without
// content, or more than MaxNewTrees new trees. TreesOf does not check that the entries' objects exist.
//
// `git write-tree` does the same, but costs one more process and one more wait for the disk. These trees are written
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

// RootOf returns the root tree of an index, and caches nothing. ok is false if git has to make the tree.
func (r Format) RootOf(x *Index) (root Object, ok bool) {
	b := treeBuilder{format: r, only: true}
	entries, ok := b.root(x)
	if !ok {
		return root, false
	}
	root, err := r.NewTree(entries)
	return root, err == nil
}
