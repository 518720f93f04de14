package gitstate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
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

// filtered looks at the tracked files that have such an attribute: at their content, or, when that is too much, their times.
// in is the work tree that they are in, and o what leads git there.
func (b *besideScan) filtered(ctx context.Context, in *Repo, o gitOpts) {
	found, err := b.filteredIn(ctx, in, o)
	b.found = append(b.found, found...)
	b.unknown = b.unknown || err != nil
}

func (b *besideScan) filteredIn(ctx context.Context, in *Repo, o gitOpts) ([]besideFile, error) {
	ask, err := b.mayFilter(ctx)
	if err != nil || !ask {
		return nil, err
	}
	var names bytes.Buffer
	for _, e := range b.entries {
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

// mayFilter reports whether some file with attributes has a word of one that filters.
func (b *besideScan) mayFilter(ctx context.Context) (bool, error) {
	r := b.repo
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
	for _, e := range b.entries {
		if bytes.HasSuffix(e.name, []byte(name)) && path.Base(string(e.name)) == name {
			files = append(files, filepath.Join(b.root, filepath.FromSlash(string(e.name))))
		}
	}
	for _, f := range b.found {
		if path.Base(f.name) == name && !path.IsAbs(f.name) {
			files = append(files, filepath.Join(b.root, filepath.FromSlash(f.name)))
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

// tellApart adds to the digest what the tree does not say of its own files as they lie in the clean tree, tags, which gates
// see there, and what lies above it.
func (b *bringer) tellApart(ctx context.Context) error {
	m := b.m
	x, _, err := b.repo.readParsed(ctx, m.index())
	if err != nil || x == nil {
		b.sum.unknown = true
		return err
	}
	var disk uint64
	for _, e := range x.entries { // git has compared them with the files just now
		size := binary.BigEndian.Uint32(e.stat[36:])
		if size == 0 { // it is empty, or was written when the index was
			if info, err := os.Lstat(b.at(string(e.name))); err == nil {
				size = uint32(info.Size())
			}
		}
		disk += onDisk(&e, size, 0)
	}
	b.sum.line("on disk", strconv.FormatUint(disk, 16))
	in := &Repo{root: m.dir, env: b.repo.env, userEnv: b.repo.userEnv}
	s := besideScan{repo: b.repo, root: m.dir, entries: x.entries}
	s.filtered(ctx, in, gitOpts{gitDir: filepath.Join(m.private, "git"), env: withIndex(m.index())})
	s.above()
	s.tags(ctx)
	s.addTo(b.sum)
	b.sum.unknown = b.sum.unknown || s.unknown
	return nil
}
