package raw

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// Git looks at a file before it overwrites it. Files with bytes of their own are written by us, and those among
// them that git leaves alone are looked at here: when a move begins, and right before they are written. In
// between git may let slow filters work for minutes.

// lies tells what lies at a path of the work tree from what lay there before: "" for nothing.
func (r *Files) lies(name string) (string, error) {
	info, err := r.Git.Lstat(name)
	if gitcmd.Absent(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	file := filepath.Join(r.Git.Root, filepath.FromSlash(name))
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		to, err := os.Readlink(file)
		return "link " + to, err
	case !info.Mode().IsRegular():
		return info.Mode().Type().String(), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}

// Lying is what lies at the places of files that a move writes with bytes of their own. What rawOf finds
// afterwards is that, or is noticed later. Of a file that git does not convert, and that it may not look at,
// the snapshot must have the bytes.
func (r *Files) Lying(ctx context.Context, changes []object.TreeChange, files []File) (map[string]string, error) {
	lay := map[string]string{}
	for _, f := range files {
		was, err := r.lies(f.Path)
		if err != nil {
			return nil, err
		}
		lay[f.Path] = was
	}
	mine := Endangered(changes, files)
	mine = slices.DeleteFunc(mine, func(f object.TreeFile) bool { return lay[f.Path] == "" || !f.Regular() })
	converted, err := r.converted(ctx, mine)
	if err != nil {
		return nil, err
	}
	mine = slices.DeleteFunc(mine, func(f object.TreeFile) bool { return converted[f.Path] })
	now, err := r.rawIDs(ctx, mine, false)
	if err != nil {
		return nil, err
	}
	for _, f := range mine {
		if now[f.Path] != f.ID {
			return nil, fmt.Errorf("moving the work tree: %q: %w", f.Path, session.ErrTouched)
		}
	}
	return lay, nil
}

// untouched refuses when something else lies there than did when the move began.
func (r *Files) untouched(lay map[string]string, name string) error {
	was, known := lay[name]
	now, err := r.lies(name)
	if err == nil && (!known || now != was) {
		err = session.ErrTouched
	}
	return err
}
