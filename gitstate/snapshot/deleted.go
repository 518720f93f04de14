package snapshot

import (
	"context"
	"encoding/hex"
	"strconv"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// fewDeleted is the number of deleted files up to which there is no warning, even if these were most files.
const fewDeleted = 4

// DeletedFrom returns how many files of the index `old` are missing in x, if they are more than half of all files and
// more than fewDeleted; otherwise it returns nil. Renamed files are not missing.
func (r *Files) DeletedFrom(old, x *object.Index) *session.Deleted {
	d := session.Deleted{Of: len(old.Entries)}
	changes, renamed := r.Objects.IndexChanges(old, x), map[string]int{}
	for _, c := range changes {
		if c.Status == "A" {
			renamed[c.NewID]++
		}
	}
	for _, c := range changes {
		if c.Status != "D" {
			continue
		}
		if renamed[c.OldID]--; renamed[c.OldID] < 0 {
			d.Files++
		}
	}
	if d.Files <= fewDeleted || 2*d.Files <= d.Of {
		return nil
	}
	return &d
}

// IndexOfTree returns an index with the files of a tree. Its entries have no sizes and times.
func (r *Files) IndexOfTree(ctx context.Context, t session.Tree) (*object.Index, error) {
	files, err := r.Objects.TreeFiles(ctx, t)
	x := &object.Index{}
	for _, f := range files {
		id, _ := hex.DecodeString(f.ID)
		mode, _ := strconv.ParseUint(f.Mode, 8, 32)
		x.Entries = append(x.Entries, object.IndexEntry{Name: []byte(f.Path), ID: id, Mode: uint32(mode)})
	}
	return x, err
}
