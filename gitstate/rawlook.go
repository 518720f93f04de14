package gitstate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// Git looks at a file before it overwrites it. Files with bytes of their own are written by us, and those among
// them that git leaves alone are looked at here: when a move begins, and right before they are written. In
// between git may let slow filters work for minutes.

// lies tells what lies at a path of the work tree from what lay there before: "" for nothing.
func (r *Repo) lies(name string) (string, error) {
	info, err := r.lstat(name)
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

// lying is what lies at the places of files that a move writes with bytes of their own. What rawOf finds
// afterwards is that, or is noticed later. Of a file that git does not convert, and that it may not look at,
// the snapshot must have the bytes.
func (r *Repo) lying(ctx context.Context, changes []treeChange, files []rawFile) (map[string]string, error) {
	lay := map[string]string{}
	for _, f := range files {
		was, err := r.lies(f.path)
		if err != nil {
			return nil, err
		}
		lay[f.path] = was
	}
	mine := endangered(changes, files)
	mine = slices.DeleteFunc(mine, func(f treeFile) bool { return lay[f.path] == "" || !f.regular() })
	converted, err := r.converted(ctx, mine)
	if err != nil {
		return nil, err
	}
	mine = slices.DeleteFunc(mine, func(f treeFile) bool { return converted[f.path] })
	now, err := r.rawIDs(ctx, mine, false)
	if err != nil {
		return nil, err
	}
	for _, f := range mine {
		if now[f.path] != f.id {
			return nil, fmt.Errorf("moving the work tree: %q: %w", f.path, session.ErrTouched)
		}
	}
	return lay, nil
}

// untouched refuses when something else lies there than did when the move began.
func (r *Repo) untouched(lay map[string]string, name string) error {
	was, known := lay[name]
	now, err := r.lies(name)
	if err == nil && (!known || now != was) {
		err = session.ErrTouched
	}
	return err
}
