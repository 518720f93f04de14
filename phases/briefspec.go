package phases

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows/checklist"
)

// maxSpec bounds what a brief quotes of a specification, in bytes. Of a longer one it has a part, and the name
// of a file.
const maxSpec = 16 << 10

// specification is what is wanted, in the words of the person who wrote it down.
type specification struct {
	Text  string
	Part  string // which part the text is of a long one
	Fence string // on the lines around it
}

// Specification is the text that is pinned: a file of that name in the work tree may be missing, or another one.
func (b *brief) Specification() *specification {
	text := strings.TrimSpace(safetext.Strip(string(b.Req.Spec)))
	if text == "" {
		return nil
	}
	mark := sha256.Sum256([]byte("specification " + b.nonce()))
	s := specification{Fence: hex.EncodeToString(mark[:8])}
	if b.Req.SpecFile != "" {
		part := ""
		if item := b.Item(); item != "" {
			part = checklist.Section([]byte(text), item, maxSpec)
		}
		s.Part = "the section with this lap's item"
		if part == "" {
			part, s.Part = text, "its beginning"
		}
		text = part
	}
	s.Text = strings.ReplaceAll(cut(text, maxSpec), s.Fence, "")
	return &s
}

// laySpec puts a specification that is too long for a brief into the session's documents for as long as a run goes on,
// and names it in the request. A file that is there and holds something else is left alone, and another name is taken.
// What remains of a run that was killed is found again by its content, and stays: it is in a checkpoint by then.
func (r *Runner) laySpec(req *session.RunRequest) (remove func(), err error) {
	remove = func() {}
	if len(req.Spec) <= maxSpec {
		return remove, nil
	}
	root, err := os.OpenRoot(r.Root) // no link leads out of it
	if err != nil {
		return remove, err
	}
	text, dir := []byte(r.Secrets.String(string(req.Spec))), DocumentsDir(req.Session.ID)
	for n := 1; ; n++ {
		file := path.Join(dir, "spec.md")
		if n > 1 {
			file = path.Join(dir, fmt.Sprintf("spec-%d.md", n))
		}
		at := filepath.FromSlash(file)
		there, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if err := root.MkdirAll(filepath.FromSlash(dir), 0o777); err != nil {
				return remove, errors.Join(err, root.Close())
			}
			remove = func() {
				if now, err := root.ReadFile(at); err == nil && bytes.Equal(now, text) { // else somebody's work
					_ = root.Remove(at)
				}
				_, _ = root.Remove(filepath.FromSlash(dir)), root.Remove(path.Dir(dir)) // those that are empty
				_ = root.Close()
			}
			if err := root.WriteFile(at, text, 0o666); err != nil {
				_ = root.Remove(at)
				remove()
				return func() {}, err
			}
			req.SpecFile = file
			return remove, nil
		case err != nil:
			return remove, errors.Join(err, root.Close())
		case there.Mode().IsRegular() && there.Size() == int64(len(text)):
			if now, err := root.ReadFile(at); err == nil && bytes.Equal(now, text) {
				req.SpecFile = file
				return remove, root.Close()
			}
		}
	}
}
