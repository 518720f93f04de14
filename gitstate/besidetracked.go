package gitstate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
)

// A tree does not say all that a gate sees of its files. Git converts some on their way into the repository and out of it:
// one with CRLF and one with LF, or what Git LFS has fetched and the pointer to it, may be the same file to a tree. It has
// no permissions but one, with core.fileMode=false not even that. What differs so is told apart here, mostly by size: times
// would tell more, but a file that was rewritten as it was is the same to a gate.

// onDisk stands for a file of a tree, its size, whatever is cut off, and its permissions. Such numbers are added up, so that
// those who look need not look in an order. What git was told not to look at, .wfs and submodules are nothing.
func onDisk(e *indexEntry, size, mode uint32) uint64 {
	if e.unseen || e.mode&indexType == indexGitlink || bytes.HasPrefix(e.name, []byte(userDir+"/")) {
		return 0
	}
	h := uint64(14695981039346656037) // FNV-1a
	add := func(c byte) { h = (h ^ uint64(c)) * 1099511628211 }
	for _, n := range [...]uint32{size, mode & 0o777} {
		for range 4 {
			add(byte(n))
			n >>= 8
		}
	}
	for _, c := range e.name {
		add(c)
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd // lest sums of similar names be similar, as in MurmurHash3
	return h ^ h>>33
}

// alike adds what a file of the tree is like. One that is not there is nothing.
func (b *besideScan) alike(e indexEntry) {
	file := filepath.Join(b.root, filepath.FromSlash(string(e.name)))
	if f, ok := lookAt(file); ok {
		b.disk += onDisk(&e, f.size, f.mode)
	} else if info, err := os.Lstat(file); err == nil {
		b.disk += onDisk(&e, uint32(info.Size()), uint32(info.Mode().Perm()))
	}
}

// maxFiltered bounds how much of the files that filters change is read for a digest, in bytes.
const maxFiltered = 4 << 20

// filtering are attributes by which git may make a file of another content with the same size.
var filtering = []string{"filter", "ident", "working-tree-encoding"}

// filtered are the tracked files that have such an attribute, with their content, or, when that is too much, with their times.
// in is the work tree that they are in, o what leads git there, and beside is what it does not track.
func (r *Repo) filtered(ctx context.Context, in *Repo, o gitOpts, entries []indexEntry, beside []besideFile) ([]besideFile, error) {
	ask, err := r.mayFilter(ctx, in.root, entries, beside)
	if err != nil || !ask {
		return nil, err
	}
	var names bytes.Buffer
	for _, e := range entries {
		names.Write(e.name)
		names.WriteByte(0)
	}
	o.stdin = names.Bytes()
	out, err := in.git(ctx, o, append([]string{"check-attr", "-z", "--stdin"}, filtering...)...)
	if err != nil {
		return nil, err
	}
	var found []besideFile
	left := int64(maxFiltered)
	for answer := range slices.Chunk(splitZ(out), 3) { // path, attribute, value
		if len(answer) < 3 {
			return nil, fmt.Errorf("git check-attr: the answer ends early")
		}
		name := answer[0]
		if answer[2] == "unspecified" || answer[2] == "unset" || len(found) > 0 && found[len(found)-1].name == name {
			continue
		}
		info, err := in.lstat(name)
		if err != nil || !info.Mode().IsRegular() { // of what is not there nothing is seen, and links are followed
			continue
		}
		data, err := durable.ReadFile(filepath.Join(in.root, filepath.FromSlash(name)), left)
		if err != nil {
			found = append(found, besideFile{name: name, info: info})
			continue
		}
		left -= int64(len(data))
		sum := sha256.Sum256(data)
		found = append(found, besideFile{name: name, text: hex.EncodeToString(sum[:])})
	}
	return found, nil
}

// mayFilter reports whether some file with attributes has a word of one that filters, for a work tree with this top.
func (r *Repo) mayFilter(ctx context.Context, root string, entries []indexEntry, beside []besideFile) (bool, error) {
	own, err := r.attributes.get(func() (string, error) {
		out, err := r.git(ctx, gitOpts{okExit: []int{1}}, "config", "--type=path", "--get", "core.attributesFile")
		return strings.TrimSuffix(string(out), "\n"), err
	})
	if err != nil {
		return false, err
	}
	files := []string{filepath.Join(r.commonDir, "info", "attributes"), "/etc/gitattributes"}
	switch {
	case own != "":
		files = append(files, r.excludeFile(own))
	case r.getenv("XDG_CONFIG_HOME") != "":
		files = append(files, filepath.Join(r.getenv("XDG_CONFIG_HOME"), "git", "attributes"))
	default:
		files = append(files, filepath.Join(r.getenv("HOME"), ".config", "git", "attributes"))
	}
	const name = ".gitattributes"
	for _, e := range entries {
		if bytes.HasSuffix(e.name, []byte(name)) && path.Base(string(e.name)) == name {
			files = append(files, filepath.Join(root, filepath.FromSlash(string(e.name))))
		}
	}
	for _, f := range beside {
		if path.Base(f.name) == name && !path.IsAbs(f.name) {
			files = append(files, filepath.Join(root, filepath.FromSlash(f.name)))
		}
	}
	for _, file := range files {
		data, err := durable.ReadFile(file, maxSaying)
		if absent(err) {
			continue
		}
		if err != nil && !errors.Is(err, os.ErrPermission) || slices.ContainsFunc(filtering, func(w string) bool { return bytes.Contains(data, []byte(w)) }) {
			return true, nil // git knows what it makes of one that is no plain file
		}
	}
	return false, nil
}
