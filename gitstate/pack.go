package gitstate

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
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
	if r.Git.Format == "sha256" {
		return sha256.New()
	}
	return sha1.New()
}

// zero is the object id that stands for "does not exist".
func (r *Repo) zero() string { return strings.Repeat("0", r.Git.IDLength()) }

func (r *Repo) newObject(kind string, data []byte) newObject {
	h := r.newHash()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return newObject{kind, hex.EncodeToString(h.Sum(nil)), data}
}

// writeObjects stores objects durably, and refuses any that points at something missing.
func (r *Repo) writeObjects(ctx context.Context, objects ...newObject) error {
	if objects = onceEach(objects); len(objects) == 0 {
		return nil
	}
	stream, entries, err := r.pack(objects)
	if err != nil {
		return err
	}
	loose := r.promised() // what they point at may be missing: see complete
	if r.writePack(objects, stream, entries, loose) {
		return nil
	}
	strict := []string{"--strict"}
	if loose {
		strict = nil
	}
	o := gitcmd.Opts{Write: true, Stdin: stream}
	out, err := r.Git.Run(ctx, o, append([]string{"index-pack", "--stdin", "--keep=" + keepByGit}, strict...)...)
	if err != nil {
		return err
	}
	dir := filepath.Join(r.Git.CommonDir, "objects", "pack")
	name, _ := strings.CutPrefix(strings.TrimSpace(string(out)), "keep\t")
	if k, err := keepPack(filepath.Join(dir, "pack-"+name)); err == nil {
		r.keep(k, objects)
	}
	return durable.SyncDir(dir) // git syncs the files alone
}

func onceEach(objects []newObject) []newObject {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(objects), func(o newObject) bool {
		defer func() { seen[o.id] = true }()
		return seen[o.id]
	})
}

// writePack writes a pack without a git process. It reports false when it did not: git then says better what
// keeps us from it, and what is missing.
func (r *Repo) writePack(objects []newObject, stream []byte, entries []packEntry, loose bool) bool {
	p := r.newPack(objects, stream, entries, loose)
	return p != nil && r.showKept(p, objects) == nil
}

// newPack makes a pack without a git process, nil when git has to make it. Unless they are loose, what the
// objects point at has to be there.
func (r *Repo) newPack(objects []newObject, stream []byte, entries []packEntry, loose bool) *newPack {
	links, err := r.linksOf(objects)
	if err != nil || !r.Git.ReadsDirectly() || len(stream) > maxDirectPack || !loose && !r.has(links) {
		return nil
	}
	p, err := r.storePack(stream, entries)
	if err != nil {
		return nil
	}
	return p
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

// found is one answer of `git cat-file --batch`. id is "" when there is no such object.
type found struct {
	id, kind string
	data     []byte
}

// lookup reads objects by name in one git process. Names must not contain line feeds.
func (r *Repo) lookup(ctx context.Context, names ...string) ([]found, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: []byte(strings.Join(names, "\n") + "\n")}, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	answers := make([]found, 0, len(names))
	for range names {
		head, rest, ok := bytes.Cut(out, []byte("\n"))
		if !ok {
			return nil, fmt.Errorf("git cat-file: the output ends early")
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
