package gitstate

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// maxNewTrees bounds the directories whose trees are made here. Beyond it `git write-tree` is called: it also notes in
// the index which trees are known, so that the next time there are few again.
const maxNewTrees = 64

// treesOf makes the trees of an index that git has not made yet: what the root holds, and the others, but for those that
// have names as there already; all are the ids of both. It answers false for what is better left to git: conflicts,
// entries without content, more than maxNewTrees directories. The objects that the trees name are not looked for.
//
// `git write-tree` does the same, but it is one more process with one more wait for the disk; these trees reach the disk
// together with the commit.
func (r *Repo) treesOf(x *index, have map[string]bool) (root []treeEntry, below []newObject, all map[string]bool, ok bool) {
	b := treeBuilder{repo: r, have: have, all: map[string]bool{}}
	root, ok = b.root(x)
	return root, b.made, b.all, ok
}

// rootOf is the root of an index's tree, of which nothing is kept.
func (r *Repo) rootOf(x *index) (root newObject, ok bool) {
	b := treeBuilder{repo: r, only: true, all: map[string]bool{}}
	entries, ok := b.root(x)
	if !ok {
		return root, false
	}
	root, err := r.newTree(entries)
	return root, err == nil
}

// Git notes in an index which trees it has made, and takes the note back where something is added; wfs cannot write such
// notes, since the index is there before its trees are. So the trees of the last checkpoint that git has no note of are
// remembered beside the index, with the tree that they are in: what builds on that need not make them again.

func (r *Repo) treesFile() string { return filepath.Join(r.worktreeDir(), "trees") }

// treesIn returns the remembered ones, if they are in a tree.
func (r *Repo) treesIn(root session.Tree) map[string]bool {
	data, err := durable.ReadFile(r.treesFile(), maxTreesFile)
	first, rest, ok := strings.Cut(string(data), "\n")
	if err != nil || !ok || first != string(root) {
		return nil
	}
	have := map[string]bool{}
	for id := range strings.FieldsSeq(rest) {
		have[id] = true
	}
	return have
}

const maxTreesFile = 1 << 20 // bytes

// noteTrees remembers trees that are in another.
func (r *Repo) noteTrees(root session.Tree, ids map[string]bool) {
	text := string(root) + "\n" + strings.Join(slices.Sorted(maps.Keys(ids)), "\n") + "\n"
	if ids != nil && len(text) <= maxTreesFile {
		_ = durable.WriteCache(r.treesFile(), []byte(text), 0o600)
	}
}

// hasOwn reports whether a root has this .wfs, or none if that is zero.
func hasOwn(root []treeEntry, own treeEntry) bool {
	i := slices.IndexFunc(root, isUserDir)
	return i < 0 && own.name == "" || i >= 0 && root[i] == own
}

// setOwn replaces .wfs among the entries of a root; a zero entry removes it.
func setOwn(root []treeEntry, own treeEntry) []treeEntry {
	root = slices.DeleteFunc(slices.Clone(root), isUserDir)
	if own.name != "" {
		root = append(root, own)
	}
	return root
}

type treeBuilder struct {
	repo *Repo
	have map[string]bool // trees that need not be made
	only bool            // the root is wanted alone
	made []newObject
	all  map[string]bool // ids of trees that git has not noted
}

// root returns the entries of the top.
func (b *treeBuilder) root(x *index) (entries []treeEntry, ok bool) {
	ok = b.each(x.entries, 0, x.cached, 0, func(mode uint32, name, id []byte) {
		entries = append(entries, treeEntry{fmt.Sprintf("%06o", mode), string(name), hex.EncodeToString(id)})
	})
	return entries, ok
}

// each calls add for every entry of one directory's tree, in the order of a tree, which is that of an index. known is what
// git noted about the directory, nil for nothing.
func (b *treeBuilder) each(files []indexEntry, prefix int, known *cachedTree, depth int, add func(mode uint32, name, id []byte)) bool {
	for i := 0; i < len(files); {
		f := files[i]
		name, _, isDir := bytes.Cut(f.name[prefix:], []byte("/"))
		if f.stage != 0 || f.intended || len(name) == 0 || depth > maxDepth {
			return false
		}
		if !isDir {
			add(f.mode, name, f.id)
			i++
			continue
		}
		below := prefix + len(name) + 1
		end := i + 1
		for end < len(files) && bytes.HasPrefix(files[end].name, f.name[:below]) {
			end++
		}
		id, ok := b.dir(files[i:end], below, known.dir(string(name)), depth+1)
		if !ok {
			return false
		}
		add(indexDir, name, id)
		i = end
	}
	return true
}

// dir returns the id of a directory's tree.
func (b *treeBuilder) dir(files []indexEntry, prefix int, known *cachedTree, depth int) (id []byte, ok bool) {
	if known != nil && known.entries >= 0 {
		id, err := hex.DecodeString(known.id)
		return id, err == nil && known.entries == len(files)
	}
	data := make([]byte, 0, 64*min(len(files), 32)) // most directories fit
	if !b.each(files, prefix, known, depth, func(mode uint32, name, id []byte) {
		data = strconv.AppendUint(data, uint64(mode), 8)
		data = append(append(append(append(data, ' '), name...), 0), id...)
	}) {
		return nil, false
	}
	tree := b.repo.newObject("tree", data)
	b.all[tree.id] = true
	switch {
	case b.only, b.have[tree.id]:
	case len(b.made) >= maxNewTrees:
		return nil, false
	default:
		b.made = append(b.made, tree)
	}
	id, err := hex.DecodeString(tree.id)
	return id, err == nil
}

func (t *cachedTree) dir(name string) *cachedTree {
	if t == nil {
		return nil
	}
	for _, d := range t.dirs {
		if d.name == name {
			return d
		}
	}
	return nil
}
