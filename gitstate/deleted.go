package gitstate

import (
	"bytes"
	"context"
	"encoding/hex"
	"strconv"

	"github.com/wfs-dev/wfs/session"
)

// fewDeleted is how many files may be gone without a word, however few there were.
const fewDeleted = 4

// deletedFrom reports whether an index lacks more than half of the files of another one, nil when it does not. What has only
// another name in it is not gone.
func deletedFrom(old, x *index) *session.Deleted {
	d := session.Deleted{Of: len(old.entries), Files: len(only(old, x))}
	if mostOnly(d) != nil {
		d.Files = lost(old, x)
	}
	return mostOnly(d)
}

// indexOfTree is an index of what a tree holds, without what files are like.
func (r *Repo) indexOfTree(ctx context.Context, t session.Tree) (*index, error) {
	files, err := r.filesOf(ctx, t)
	x := &index{}
	for _, f := range files {
		id, _ := hex.DecodeString(f.id)
		mode, _ := strconv.ParseUint(f.mode, 8, 32)
		x.entries = append(x.entries, indexEntry{name: []byte(f.path), id: id, mode: uint32(mode)})
	}
	return x, err
}

// mostOnly is nil unless most is gone.
func mostOnly(d session.Deleted) *session.Deleted {
	if d.Files <= fewDeleted || 2*d.Files <= d.Of {
		return nil
	}
	return &d
}

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
