package gitstate

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

// CommitInfo is what people want to know about a commit.
type CommitInfo struct {
	Subject string
	Body    string // what follows the subject, trailers included
	At      int64  // of the committer, Unix seconds
	Author  string // "Name <mail>"
	Tree    session.Tree
	Parents []session.Commit
}

// CommitInfo reads one commit.
func (r *Repo) CommitInfo(ctx context.Context, c session.Commit) (CommitInfo, error) {
	kind, data, err := r.object(ctx, string(c))
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
func (r *Repo) TreeOf(ctx context.Context, c session.Commit) (session.Tree, error) {
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
	// As git does it: the subject is the first paragraph on one line.
	subject, body, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n\n")
	info.Subject = strings.Join(strings.FieldsFunc(subject, func(c rune) bool { return c == '\n' }), " ")
	info.Body = strings.TrimLeft(body, "\n")
	return info, nil
}

// treeEntry is one line of a tree object.
type treeEntry struct{ mode, name, id string }

func (e treeEntry) isTree() bool { return e.mode == modeTree }

// The modes of tree entries, as git prints them in its raw formats.
const (
	modeTree    = "040000"
	modeExec    = "100755"
	modeLink    = "120000"
	modeGitlink = "160000"
	modeNone    = "000000"
)

// tree returns the entries of one tree object.
func (r *Repo) tree(ctx context.Context, t session.Tree) ([]treeEntry, error) {
	kind, data, err := r.object(ctx, string(t))
	if err != nil {
		return nil, err
	}
	if kind != "tree" {
		return nil, fmt.Errorf("%s is a %s, not a tree", t, kind)
	}
	entries, err := parseTree(data, r.Git.IDLength()/2)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", t, err)
	}
	return entries, nil
}

func parseTree(data []byte, idBytes int) ([]treeEntry, error) {
	var entries []treeEntry
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, ok2 := strings.Cut(string(head), " ")
		if !ok || !ok2 || len(rest) < idBytes {
			return nil, errors.New("it is damaged")
		}
		if len(mode) == 5 {
			mode = "0" + mode // directories are stored as 40000 and printed as 040000
		}
		entries = append(entries, treeEntry{mode, name, hex.EncodeToString(rest[:idBytes])})
		data = rest[idBytes:]
	}
	return entries, nil
}

// entry returns the entry of a name at the top of a tree; its zero value when there is none.
func (r *Repo) entry(ctx context.Context, t session.Tree, name string) (treeEntry, error) {
	entries, err := r.tree(ctx, t)
	for _, e := range entries {
		if e.name == name {
			return e, err
		}
	}
	return treeEntry{}, err
}

// withEntry returns a tree that has the given entry at its top in place of the one of that name; a mode of "" means
// that it has none. The new tree is durable.
func (r *Repo) withEntry(ctx context.Context, t session.Tree, e treeEntry) (session.Tree, error) {
	entries, err := r.tree(ctx, t)
	if err != nil {
		return "", err
	}
	o, err := r.newTree(putEntry(entries, e))
	if err != nil || o.id == string(t) {
		return t, err
	}
	return session.Tree(o.id), r.writeObjects(ctx, o)
}

// putEntry is withEntry for the entries of a tree.
func putEntry(entries []treeEntry, e treeEntry) []treeEntry {
	entries = slices.DeleteFunc(slices.Clone(entries), func(old treeEntry) bool { return old.name == e.name })
	if e.mode != "" {
		entries = append(entries, e)
	}
	return entries
}

// File returns one document of a ledger commit, nil when it has none of that name.
func (r *Repo) File(ctx context.Context, ledger session.Commit, name string) ([]byte, error) {
	tree, err := r.TreeOf(ctx, ledger)
	if err != nil {
		return nil, err
	}
	e, err := r.entry(ctx, tree, name)
	if err != nil || e.mode == "" {
		return nil, err
	}
	kind, data, err := r.object(ctx, e.id)
	if err == nil && kind != "blob" {
		err = fmt.Errorf("%s of history commit %s is a %s", name, ledger, kind)
	}
	if data == nil && err == nil {
		data = []byte{} // there, and empty
	}
	return data, err
}

// Ledgers returns the commits of a session's ledger, newest first. It is empty when there is no such session.
func (r *Repo) Ledgers(ctx context.Context, id session.ID) ([]session.LedgerCommit, error) {
	tip, err := r.Ref(ctx, LedgerRef(id))
	if err != nil {
		return nil, err
	}
	return r.LedgersFrom(ctx, tip)
}

// LedgersFrom lists a ledger commit and those before it, newest first, wherever the ref is.
func (r *Repo) LedgersFrom(ctx context.Context, tip session.Commit) (list []session.LedgerCommit, err error) {
	for next := tip; next != ""; {
		info, err := r.CommitInfo(ctx, next)
		if err != nil {
			return list, err
		}
		list = append(list, session.LedgerCommit{Commit: next, At: info.At, Subject: info.Subject})
		next = info.previousLedger()
	}
	return list, nil
}

// previousLedger returns the ledger commit that this one extends, "" for the first: every other parent is named by a
// trailer.
func (c CommitInfo) previousLedger() session.Commit {
	if len(c.Parents) == 0 {
		return ""
	}
	for line := range strings.Lines(c.Body) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if strings.HasPrefix(key, "Wfs-Ledger-") && value == string(c.Parents[0]) {
			return ""
		}
	}
	return c.Parents[0]
}
