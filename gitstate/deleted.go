package gitstate

import (
	"context"
	"encoding/hex"
	"strconv"

	"github.com/wfs-dev/wfs/session"
)

// fewDeleted is how many files may be gone without a word, however few there were.
const fewDeleted = 4

// deletedFrom reports whether an index lacks more than half of the files of another one, nil when it does not.
// What has only another name in it is not gone.
func (r *Repo) deletedFrom(old, x *index) *session.Deleted {
	d := session.Deleted{Of: len(old.entries)}
	changes, renamed := r.indexChanges(old, x), map[string]int{}
	for _, c := range changes {
		if c.Status == "A" {
			renamed[c.newID]++
		}
	}
	for _, c := range changes {
		if c.Status != "D" {
			continue
		}
		if renamed[c.oldID]--; renamed[c.oldID] < 0 {
			d.Files++
		}
	}
	if d.Files <= fewDeleted || 2*d.Files <= d.Of {
		return nil
	}
	return &d
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
