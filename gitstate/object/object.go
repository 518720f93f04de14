package object

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

// Store is what a repository has of objects: in packs, and in files of their own.
type Store struct {
	Git     *gitcmd.Git
	reader  reader // what is read without git
	keeping keeping
}

// New returns the store of a repository.
func New(git *gitcmd.Git) *Store { return &Store{Git: git} }

// Object is a git object that is made here rather than by a git command: several reach the disk in one process.
type Object struct {
	Kind string // "blob", "tree" or "commit"
	ID   string
	Data []byte
}

func (r *Store) NewHash() hash.Hash {
	if r.Git.Format == "sha256" {
		return sha256.New()
	}
	return sha1.New()
}

// Zero is the object id that stands for "does not exist".
func (r *Store) Zero() string { return strings.Repeat("0", r.Git.IDLength()) }

func (r *Store) NewObject(kind string, data []byte) Object {
	h := r.NewHash()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return Object{kind, hex.EncodeToString(h.Sum(nil)), data}
}

// WriteObjects stores objects durably, and refuses any that points at something missing.
func (r *Store) WriteObjects(ctx context.Context, objects ...Object) error {
	if objects = OnceEach(objects); len(objects) == 0 {
		return nil
	}
	stream, entries, err := r.Pack(objects)
	if err != nil {
		return err
	}
	loose := r.Promised() // what they point at may be missing: see complete
	if r.writePack(objects, stream, entries, loose) {
		return nil
	}
	strict := []string{"--strict"}
	if loose {
		strict = nil
	}
	o := gitcmd.Opts{Write: true, Stdin: stream}
	out, err := r.Git.Run(ctx, o, append([]string{"index-pack", "--stdin", "--keep=" + KeepByGit}, strict...)...)
	if err != nil {
		return err
	}
	dir := filepath.Join(r.Git.CommonDir, "objects", "pack")
	name, _ := strings.CutPrefix(strings.TrimSpace(string(out)), "keep\t")
	if k, err := KeepPack(filepath.Join(dir, "pack-"+name)); err == nil {
		r.keep(k, objects)
	}
	return durable.SyncDir(dir) // git syncs the files alone
}

func OnceEach(objects []Object) []Object {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(objects), func(o Object) bool {
		defer func() { seen[o.ID] = true }()
		return seen[o.ID]
	})
}

// writePack writes a pack without a git process. It reports false when it did not: git then says better what
// keeps us from it, and what is missing.
func (r *Store) writePack(objects []Object, stream []byte, entries []PackEntry, loose bool) bool {
	p := r.NewPack(objects, stream, entries, loose)
	return p != nil && r.ShowKept(p, objects) == nil
}

// NewPack makes a pack without a git process, nil when git has to make it. Unless they are loose, what the
// objects point at has to be there.
func (r *Store) NewPack(objects []Object, stream []byte, entries []PackEntry, loose bool) *NewPack {
	links, err := r.linksOf(objects)
	if err != nil || !r.Git.ReadsDirectly() || len(stream) > maxDirectPack || !loose && !r.Has(links) {
		return nil
	}
	p, err := r.StorePack(stream, entries)
	if err != nil {
		return nil
	}
	return p
}

const ModeFile = "100644"

// NewTree encodes entries as a tree object, sorted as git does: a directory as if its name ended in a slash.
func (r *Store) NewTree(entries []Entry) (Object, error) {
	key := func(e Entry) string {
		if e.isTree() {
			return e.Name + "/"
		}
		return e.Name
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(key(a), key(b)) })
	var b bytes.Buffer
	for _, e := range entries {
		id, err := hex.DecodeString(e.ID)
		if err != nil {
			return Object{}, err
		}
		b.WriteString(strings.TrimPrefix(e.Mode, "0") + " " + e.Name + "\x00")
		b.Write(id)
	}
	return r.NewObject("tree", b.Bytes()), nil
}

// NewCommit encodes a commit by one identity at one time, in UTC.
func (r *Store) NewCommit(tree string, parents []session.Commit, ident string, at int64, message string) Object {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n", ident, at, ident, at)
	message = strings.ReplaceAll(strings.ToValidUTF8(message, "\uFFFD"), "\x00", "")
	b.WriteString(strings.TrimRight(message, "\n") + "\n")
	return r.NewObject("commit", b.Bytes())
}

// Found is one answer of `git cat-file --batch`. id is "" when there is no such object.
type Found struct {
	id, Kind string
	Data     []byte
}

// Lookup reads objects by name in one git process. Names must not contain line feeds.
func (r *Store) Lookup(ctx context.Context, names ...string) ([]Found, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: []byte(strings.Join(names, "\n") + "\n")}, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	answers := make([]Found, 0, len(names))
	for range names {
		head, rest, ok := bytes.Cut(out, []byte("\n"))
		if !ok {
			return nil, fmt.Errorf("git cat-file: the output ends early")
		}
		f := strings.Fields(string(head))
		if n := len(f); n > 0 && (f[n-1] == "missing" || f[n-1] == "ambiguous") {
			answers, out = append(answers, Found{}), rest
			continue
		}
		if len(f) != 3 {
			return nil, fmt.Errorf("git cat-file: unexpected answer %q", head)
		}
		size, err := strconv.Atoi(f[2])
		if err != nil || size+1 > len(rest) {
			return nil, fmt.Errorf("git cat-file: unexpected answer %q", head)
		}
		answers, out = append(answers, Found{f[0], f[1], rest[:size]}), rest[size+1:]
	}
	return answers, nil
}
