package gitstate

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
)

// maxNewTrees bounds the directories whose trees are made here. Beyond it `git write-tree` is called: it also notes in
// the index which trees are known, so that the next time there are few again.
const maxNewTrees = 64

// treesOf makes the trees of an index that git has not made yet: what the root holds, and the others. It answers false
// for what is better left to git: conflicts, entries without content, too many directories. The objects that the trees
// name are not looked for.
//
// `git write-tree` does the same, but it is one more process with one more wait for the disk; these trees reach the disk
// together with the commit.
func (r *Repo) treesOf(x *index) (root []treeEntry, below []newObject, ok bool) {
	b := treeBuilder{repo: r}
	root, ok = b.entries(x.entries, 0, x.cached, 0)
	return root, b.made, ok
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
	made []newObject
}

// entries returns the tree entries of one directory. known is what git noted about it, nil for nothing.
func (b *treeBuilder) entries(files []indexEntry, prefix int, known *cachedTree, depth int) ([]treeEntry, bool) {
	var entries []treeEntry
	for i := 0; i < len(files); {
		f := files[i]
		name, _, isDir := bytes.Cut(f.name[prefix:], []byte("/"))
		if f.stage != 0 || f.intended || len(name) == 0 || depth > maxDepth {
			return nil, false
		}
		if !isDir {
			entries = append(entries, treeEntry{fmt.Sprintf("%06o", f.mode), string(name), hex.EncodeToString(f.id)})
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
			return nil, false
		}
		entries = append(entries, treeEntry{modeTree, string(name), id})
		i = end
	}
	return entries, true
}

func (b *treeBuilder) dir(files []indexEntry, prefix int, known *cachedTree, depth int) (id string, ok bool) {
	if known != nil && known.entries >= 0 {
		return known.id, known.entries == len(files)
	}
	entries, ok := b.entries(files, prefix, known, depth)
	if !ok || len(b.made) >= maxNewTrees {
		return "", false
	}
	tree, err := b.repo.newTree(entries)
	b.made = append(b.made, tree)
	return tree.id, err == nil
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
