package gitstate

import (
	"bytes"
	"context"

	"github.com/wfs-dev/wfs/session"
)

// fewDeleted is how many files may be gone without a word, however few there were.
const fewDeleted = 4

// deleted reports whether an index lacks more than half of the files that a commit has, nil when it does not. What has
// only another name in it is not gone. old is the commit's files, x the index at path; either is nil when git has to be
// asked.
func (r *Repo) deleted(ctx context.Context, old, x *index, path string, c session.Commit) (*session.Deleted, error) {
	d := session.Deleted{}
	if old != nil && x != nil {
		d.Of = len(old.entries)
		if d.Files = missing(old, x); d.Files > fewDeleted && 2*d.Files > d.Of {
			d.Files = lost(old, x)
		}
	} else {
		all, err := r.git(ctx, gitOpts{}, "ls-tree", "-r", "-z", "--name-only", "--full-tree", string(c))
		if err != nil {
			return nil, err
		}
		gone, err := r.git(ctx, gitOpts{env: withIndex(path)}, "diff-index", everySubmodule, "--cached", "-M100%", "--diff-filter=D", "--name-only", "-z", string(c))
		if err != nil {
			return nil, err
		}
		d.Of, d.Files = bytes.Count(all, []byte{0}), bytes.Count(gone, []byte{0})
	}
	if d.Files <= fewDeleted || 2*d.Files <= d.Of {
		return nil, nil
	}
	return &d, nil
}

// missing counts the names in one index that another lacks. Both are sorted.
func missing(from, in *index) int { return len(only(from, in)) }

// only returns the entries of one index whose names another lacks.
func only(from, in *index) []indexEntry {
	var list []indexEntry
	i := 0
	for _, e := range from.entries {
		for i < len(in.entries) && bytes.Compare(in.entries[i].name, e.name) < 0 {
			i++
		}
		if i == len(in.entries) || !bytes.Equal(in.entries[i].name, e.name) {
			list = append(list, e)
		}
	}
	return list
}

// lost counts what is missing and has no new name either.
func lost(old, x *index) int {
	renamed := map[string]int{}
	for _, e := range only(x, old) {
		renamed[string(e.id)]++
	}
	n := 0
	for _, e := range only(old, x) {
		if renamed[string(e.id)]--; renamed[string(e.id)] < 0 {
			n++
		}
	}
	return n
}
