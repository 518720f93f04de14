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

// Git checks a file before it overwrites it. wfs itself writes files with raw bytes, so it has to check those that git
// does not touch: when a move begins, and right before they are written. Between the two, slow filters may run for
// minutes.

// lies returns a text that identifies the content of a path of the work tree; "" if it does not exist.
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

// Lying returns the present contents (see lies) at the paths of files that a move writes with raw bytes, to compare
// them before writing. If git does not convert such a file, the snapshot must have its bytes; otherwise the error wraps
// session.ErrTouched.
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

// untouched returns session.ErrTouched if a path has another content than when the move began.
func (r *Files) untouched(lay map[string]string, name string) error {
	was, known := lay[name]
	now, err := r.lies(name)
	if err == nil && (!known || now != was) {
		err = session.ErrTouched
	}
	return err
}
