package gitstate

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// newObject is a git object that is made here rather than by a git command: several reach the disk in one process.
type newObject struct {
	kind string // "blob", "tree" or "commit"
	id   string
	data []byte
}

func (r *Repo) newHash() hash.Hash {
	if r.format == "sha256" {
		return sha256.New()
	}
	return sha1.New()
}

// zero is the object id that stands for "does not exist".
func (r *Repo) zero() string { return strings.Repeat("0", r.idLength()) }

func (r *Repo) newObject(kind string, data []byte) newObject {
	h := r.newHash()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return newObject{kind, hex.EncodeToString(h.Sum(nil)), data}
}

// Object types of a pack entry, from gitformat-pack(5).
var packTypes = map[string]byte{"commit": 1, "tree": 2, "blob": 3}

// pack encodes objects as one pack stream, whole objects without deltas.
func (r *Repo) pack(objects []newObject) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("PACK")
	b.Write(binary.BigEndian.AppendUint32(nil, 2))
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(objects))))
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed) // a few small objects, and git will repack them
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		size := len(o.data)
		first := packTypes[o.kind]<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			b.WriteByte(first | 0x80)
			first = byte(size & 0x7f)
		}
		b.WriteByte(first)
		z.Reset(&b)
		if _, err := z.Write(o.data); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
	}
	h := r.newHash()
	h.Write(b.Bytes())
	b.Write(h.Sum(nil))
	return b.Bytes(), nil
}

// Where objects go. A file for each costs several times as much as one pack for all; but packs are not merged until the
// user's own `git gc --auto` does it, which is from 50 on (gc.autoPackLimit), and many of them slow every git command.
const (
	minPacked = 8  // fewer objects become files
	maxPacks  = 40 // with more packs in the repository any number of objects become files
)

// writeObjects stores objects durably in one git process, which also refuses any that points at something missing.
func (r *Repo) writeObjects(ctx context.Context, objects ...newObject) error {
	seen := map[string]bool{}
	objects = slices.DeleteFunc(slices.Clone(objects), func(o newObject) bool {
		again := seen[o.id]
		seen[o.id] = true
		return again
	})
	if len(objects) == 0 {
		return nil
	}
	stream, err := r.pack(objects)
	if err != nil {
		return err
	}
	args, packed := []string{"unpack-objects", "-q", "--strict"}, false
	if len(objects) >= minPacked {
		packs, err := filepath.Glob(filepath.Join(r.commonDir, "objects", "pack", "*.pack"))
		if err != nil {
			return err
		}
		if len(packs) < maxPacks {
			args, packed = []string{"index-pack", "--stdin", "--strict"}, true
		}
	}
	_, err = r.git(ctx, gitOpts{write: true, stdin: stream}, args...)
	if err != nil || !packed {
		return err
	}
	return durable.SyncDir(filepath.Join(r.commonDir, "objects", "pack")) // git syncs the files alone
}

const modeFile = "100644"

// newTree encodes entries as a tree object, sorted as git does: a directory as if its name ended in a slash.
func (r *Repo) newTree(entries []treeEntry) (newObject, error) {
	key := func(e treeEntry) string {
		if e.isTree() {
			return e.name + "/"
		}
		return e.name
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b treeEntry) int { return strings.Compare(key(a), key(b)) })
	var b bytes.Buffer
	for _, e := range entries {
		id, err := hex.DecodeString(e.id)
		if err != nil {
			return newObject{}, err
		}
		b.WriteString(strings.TrimPrefix(e.mode, "0") + " " + e.name + "\x00")
		b.Write(id)
	}
	return r.newObject("tree", b.Bytes()), nil
}

// newCommit encodes a commit by one identity at one time, in UTC.
func (r *Repo) newCommit(tree string, parents []session.Commit, ident string, at int64, message string) newObject {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n", ident, at, ident, at)
	message = strings.ReplaceAll(strings.ToValidUTF8(message, "\uFFFD"), "\x00", "")
	b.WriteString(strings.TrimRight(message, "\n") + "\n")
	return r.newObject("commit", b.Bytes())
}

// withTrailers adds trailers to a message: to its last paragraph if that consists of trailers, else as a new one.
func withTrailers(message string, trailers ...string) string {
	message = strings.TrimRight(message, "\n")
	if len(trailers) == 0 {
		return message + "\n"
	}
	gap := "\n\n"
	if i := strings.LastIndex(message, "\n\n"); i >= 0 && allTrailers(message[i+2:]) {
		gap = "\n"
	}
	return message + gap + strings.Join(trailers, "\n") + "\n"
}

func allTrailers(paragraph string) bool {
	for _, line := range strings.Split(paragraph, "\n") {
		key, _, ok := strings.Cut(line, ": ")
		if !ok || key == "" || strings.ContainsAny(key, " \t") {
			return false
		}
	}
	return true
}

// identity is who makes commits here: "Name <mail>". Git's guess from the machine's names does not count as one.
func (r *Repo) identity(ctx context.Context) (string, error) {
	return r.ident.get(func() (string, error) { return r.askIdentity(ctx) })
}

func (r *Repo) askIdentity(ctx context.Context) (string, error) {
	out, err := r.git(ctx, gitOpts{}, "-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
	if err != nil {
		return "", err
	}
	end := bytes.LastIndexByte(out, '>')
	if end < 0 {
		return "", fmt.Errorf("git var: unexpected identity %q", out)
	}
	return string(out[:end+1]), nil
}

// found is one answer of `git cat-file --batch`. id is "" when there is no such object.
type found struct {
	id, kind string
	data     []byte
}

// lookup reads objects by name in one git process. Names must not contain line feeds.
func (r *Repo) lookup(ctx context.Context, names ...string) ([]found, error) {
	out, err := r.git(ctx, gitOpts{stdin: []byte(strings.Join(names, "\n") + "\n")}, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	answers := make([]found, 0, len(names))
	for range names {
		head, rest, ok := bytes.Cut(out, []byte("\n"))
		if !ok {
			return nil, fmt.Errorf("git cat-file: the answer ends early")
		}
		f := strings.Fields(string(head))
		if n := len(f); n > 0 && (f[n-1] == "missing" || f[n-1] == "ambiguous") {
			answers, out = append(answers, found{}), rest
			continue
		}
		if len(f) != 3 {
			return nil, fmt.Errorf("git cat-file: unexpected answer %q", head)
		}
		size, err := strconv.Atoi(f[2])
		if err != nil || size+1 > len(rest) {
			return nil, fmt.Errorf("git cat-file: unexpected answer %q", head)
		}
		answers, out = append(answers, found{f[0], f[1], rest[:size]}), rest[size+1:]
	}
	return answers, nil
}

// root is a commit's tree.
type root struct {
	id      session.Tree
	entries []treeEntry
}

// trees reads the trees of commits in one git process.
func (r *Repo) trees(ctx context.Context, commits ...session.Commit) ([]root, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	names := make([]string, len(commits))
	for i, c := range commits {
		names[i] = string(c) + "^{tree}"
	}
	got, err := r.lookup(ctx, names...)
	if err != nil {
		return nil, err
	}
	roots := make([]root, len(got))
	for i, g := range got {
		if g.kind != "tree" {
			return nil, fmt.Errorf("commit %s, or its tree, is missing", commits[i])
		}
		entries, err := parseTree(g.data, r.idLength()/2)
		if err != nil {
			return nil, fmt.Errorf("tree %s: %w", g.id, err)
		}
		roots[i] = root{session.Tree(g.id), entries}
	}
	return roots, nil
}
