package object

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Show returns the content of a file in a tree, nil if the tree has no such file.
func (r *Store) Show(ctx context.Context, tree session.Tree, name string) ([]byte, error) {
	e := Entry{Mode: ModeTree, ID: string(tree)}
	for part := range strings.SplitSeq(name, "/") {
		if !e.isTree() {
			return nil, nil
		}
		var err error
		if e, err = r.Entry(ctx, session.Tree(e.ID), part); err != nil {
			return nil, err
		}
	}
	if e.Mode == "" || e.isTree() || e.Mode == ModeGitlink {
		return nil, nil
	}
	_, data, err := r.Read(ctx, e.ID)
	return data, err
}

// CommitInfo has the parts of a commit that wfs reads.
type CommitInfo struct {
	Subject string
	Body    string // the message after the subject, with trailers
	At      int64  // committer's time, Unix seconds
	Author  string // "Name <mail>"
	Tree    session.Tree
	Parents []session.Commit
}

// CommitInfo reads one commit.
func (r *Store) CommitInfo(ctx context.Context, c session.Commit) (CommitInfo, error) {
	kind, data, err := r.Read(ctx, string(c))
	if err != nil {
		return CommitInfo{}, err
	}
	if kind != "commit" {
		return CommitInfo{}, fmt.Errorf("%s is a %s, not a commit", c, kind)
	}
	info, err := parseCommit(data)
	if err != nil {
		return info, fmt.Errorf("commit %s: %w", c, err)
	}
	return info, nil
}

// TreeOf returns a commit's tree.
func (r *Store) TreeOf(ctx context.Context, c session.Commit) (session.Tree, error) {
	info, err := r.CommitInfo(ctx, c)
	return info.Tree, err
}

func parseCommit(data []byte) (CommitInfo, error) {
	var info CommitInfo
	head, message, _ := strings.Cut(string(data), "\n\n")
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			info.Tree = session.Tree(value)
		case "parent":
			info.Parents = append(info.Parents, session.Commit(value))
		case "author":
			info.Author = value[:strings.LastIndexByte(value, '>')+1]
		case "committer": // Name <mail> seconds zone
			seconds, _, _ := strings.Cut(strings.TrimSpace(value[strings.LastIndexByte(value, '>')+1:]), " ")
			at, err := strconv.ParseInt(seconds, 10, 64)
			if err != nil {
				return info, fmt.Errorf("unreadable date %q", seconds)
			}
			info.At = at
		}
	}
	if info.Tree == "" {
		return info, errors.New("it has no tree")
	}
	// Like git, take the first paragraph as the subject, joined to one line.
	subject, body, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n\n")
	info.Subject = strings.Join(strings.FieldsFunc(subject, func(c rune) bool { return c == '\n' }), " ")
	info.Body = strings.TrimLeft(body, "\n")
	return info, nil
}

// Entry is an entry of a tree object.
type Entry struct{ Mode, Name, ID string }

func (e Entry) isTree() bool { return e.Mode == ModeTree }

// The modes of tree entries, as git prints them in its raw formats (`--raw`, ls-tree).
const (
	ModeTree    = "040000"
	ModeExec    = "100755"
	ModeLink    = "120000"
	ModeGitlink = "160000"
	ModeNone    = "000000"
)

// Tree returns the entries of one tree object.
func (r *Store) Tree(ctx context.Context, t session.Tree) ([]Entry, error) {
	kind, data, err := r.Read(ctx, string(t))
	if err != nil {
		return nil, err
	}
	if kind != "tree" {
		return nil, fmt.Errorf("%s is a %s, not a tree", t, kind)
	}
	entries, err := parseTree(data, r.IDLength()/2)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", t, err)
	}
	return entries, nil
}

func parseTree(data []byte, idBytes int) ([]Entry, error) {
	var entries []Entry
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, ok2 := strings.Cut(string(head), " ")
		if !ok || !ok2 || len(rest) < idBytes {
			return nil, errors.New("it is damaged")
		}
		if len(mode) == 5 {
			mode = "0" + mode // directories are stored as 40000 and printed as 040000
		}
		entries = append(entries, Entry{mode, name, hex.EncodeToString(rest[:idBytes])})
		data = rest[idBytes:]
	}
	return entries, nil
}

// Entry returns the entry with that name at the top of a tree, or the zero value if there is none.
func (r *Store) Entry(ctx context.Context, t session.Tree, name string) (Entry, error) {
	entries, err := r.Tree(ctx, t)
	for _, e := range entries {
		if e.Name == name {
			return e, err
		}
	}
	return Entry{}, err
}

// WithEntry returns a tree with the entry e at its top instead of an entry of the same name. If the Mode of e is "", it
// only removes the entry of that name. The new tree is stored durably.
func (r *Store) WithEntry(ctx context.Context, t session.Tree, e Entry) (session.Tree, error) {
	entries, err := r.Tree(ctx, t)
	if err != nil {
		return "", err
	}
	o, err := r.NewTree(PutEntry(entries, e))
	if err != nil || o.ID == string(t) {
		return t, err
	}
	return session.Tree(o.ID), r.WriteObjects(ctx, o)
}

// PutEntry does for a list of entries what WithEntry does for a tree.
func PutEntry(entries []Entry, e Entry) []Entry {
	entries = slices.DeleteFunc(slices.Clone(entries), func(old Entry) bool { return old.Name == e.Name })
	if e.Mode != "" {
		entries = append(entries, e)
	}
	return entries
}

// File returns a file of a ledger commit, nil if the commit has no file of that name.
func (r *Store) File(ctx context.Context, ledger session.Commit, name string) ([]byte, error) {
	tree, err := r.TreeOf(ctx, ledger)
	if err != nil {
		return nil, err
	}
	e, err := r.Entry(ctx, tree, name)
	if err != nil || e.Mode == "" {
		return nil, err
	}
	kind, data, err := r.Read(ctx, e.ID)
	if err == nil && kind != "blob" {
		err = fmt.Errorf("%s of history commit %s is a %s", name, ledger, kind)
	}
	if data == nil && err == nil {
		data = []byte{} // exists and is empty
	}
	return data, err
}
