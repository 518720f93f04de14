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

// Before git overwrites a file, it compares the file. wfs itself writes the files with raw bytes, so it must compare
// those that git does not touch: when a move begins, and again right before it writes them. Between these two times,
// slow filters may run for minutes.

// lies returns a fingerprint of the content at a path of the work tree, "" if the path does not exist.
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

// Lying returns fingerprints (see lies) of the present contents at the paths of files that a move will write with raw
// bytes. Write compares them again. If git does not convert such a file, the snapshot must have its bytes: if it has
// other bytes, the error wraps session.ErrTouched.
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

// untouched returns session.ErrTouched if the content at a path is not the one from the beginning of the move.
func (r *Files) untouched(lay map[string]string, name string) error {
	was, known := lay[name]
	now, err := r.lies(name)
	if err == nil && (!known || now != was) {
		err = session.ErrTouched
	}
	return err
}
