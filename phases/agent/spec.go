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

// laySpec writes a specification that is too long for a brief to a file among the session's documents, and names the
// file in the request. remove deletes the file after the run. laySpec never overwrites a file with other contents. If
// a killed run left the file, laySpec recognises it by its contents and keeps it: by then a checkpoint contains it.
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
		if now, rerr := root.ReadFile(at); err != nil || rerr == nil && bytes.Equal(now, text) { // not edited since
			_ = root.Remove(at)
		}
		_, _ = root.Remove(filepath.FromSlash(dir)), root.Remove(path.Dir(dir)) // removed only if empty
		_ = root.Close()
	}
	if err != nil {
		remove()
	}
	req.SpecFile = file
	return remove, err
}

// nameFor returns the path for a file with this text in a directory. `there` is set if the file exists already.
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
