package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/session"
)

// laySpec puts a specification that is too long for a brief into the session's documents for as long as a run goes on,
// and names it in the request. A file that is there and holds something else is left alone, and another name is taken.
// What remains of a run that was killed is found again by its content, and stays: it is in a checkpoint by then.
func (r *Runner) laySpec(req *session.RunRequest) (remove func(), err error) {
	if len(req.Spec) <= brief.MaxSpec {
		return func() {}, nil
	}
	root, err := os.OpenRoot(r.Root) // no link leads out of it
	if err != nil {
		return nil, err
	}
	text, dir := []byte(r.Secrets.String(string(req.Spec))), brief.DocumentsDir(req.Session.ID)
	file, there, err := nameFor(root, dir, text)
	if err != nil || there {
		req.SpecFile = file
		return func() {}, errors.Join(err, root.Close())
	}
	at := filepath.FromSlash(file)
	err = root.MkdirAll(filepath.FromSlash(dir), 0o777)
	if err == nil {
		err = root.WriteFile(at, text, 0o666)
	}
	remove = func() {
		if now, rerr := root.ReadFile(at); err != nil || rerr == nil && bytes.Equal(now, text) { // else somebody's work
			_ = root.Remove(at)
		}
		_, _ = root.Remove(filepath.FromSlash(dir)), root.Remove(path.Dir(dir)) // those that are empty
		_ = root.Close()
	}
	if err != nil {
		remove()
	}
	req.SpecFile = file
	return remove, err
}

// nameFor is a name that a text can have in a directory, and whether it is there by that name.
func nameFor(root *os.Root, dir string, text []byte) (file string, there bool, err error) {
	for n := 1; ; n++ {
		file = path.Join(dir, "spec.md")
		if n > 1 {
			file = path.Join(dir, fmt.Sprintf("spec-%d.md", n))
		}
		at := filepath.FromSlash(file)
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return file, false, nil
		case err != nil:
			return "", false, err
		case info.Mode().IsRegular() && info.Size() == int64(len(text)):
			if now, err := root.ReadFile(at); err == nil && bytes.Equal(now, text) {
				return file, true, nil
			}
		}
	}
}
