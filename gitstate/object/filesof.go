package object

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/session"
)

// FileOf is one file of a tree.
type FileOf struct {
	Path string
	Exec bool
	Data []byte
}

// FilesOf returns the files of `tree` that are missing or different in the tree `without`; for that, "" is the empty
// tree. It returns an error if one of these files is a symbolic link or a submodule.
func (r *Store) FilesOf(ctx context.Context, tree, without session.Tree) ([]FileOf, error) {
	changes, err := r.DiffTrees(ctx, without, tree)
	if err != nil {
		return nil, err
	}
	var out []FileOf
	for _, c := range changes {
		switch c.NewMode {
		case ModeNone:
			continue
		case "100644", "100755":
		default:
			return nil, fmt.Errorf("%s is not a regular file", c.Path)
		}
		_, data, err := r.Read(ctx, c.NewID)
		if err != nil {
			return nil, err
		}
		out = append(out, FileOf{Path: c.Path, Exec: c.NewMode == "100755", Data: data})
	}
	return out, nil
}
