package registry

import (
	"path/filepath"

	"github.com/wfs-dev/wfs/session"
)

// Provided is what was brought into a session's own work tree when it was made, and what its set-up left there
// that git ignores: paths from its top, directories ending in a slash where git says so. As long as it is as it
// was, it can be had again.
type Provided struct {
	Version int               `json:"v"`
	Session session.ID        `json:"session"`
	Dir     string            `json:"dir"`
	Linked  []string          `json:"linked,omitempty"`
	Copied  []string          `json:"copied,omitempty"`
	Stamps  map[string]string `json:"stamps,omitempty"` // what the set-up made, and a digest by which a change is seen
}

const maxProvided = 16 << 20

func (w Worktree) providedFile() string {
	return filepath.Join(w.dir(), "provided")
}

// KeepProvided writes it down for a work tree.
func (w Worktree) KeepProvided(p Provided) error {
	p.Version = FormatVersion
	return w.clone.writeDocument(w.providedFile(), p)
}

// Provided returns what was written down for the work tree of a session in a directory, the zero value when
// nothing was, or when it was about another one of that name.
func (w Worktree) Provided(id session.ID, dir string) (Provided, error) {
	p, err := readProvided(w.providedFile())
	if err != nil || p.Session != id || p.Dir != dir {
		return Provided{}, ifThere(err)
	}
	return p, nil
}

// ForgetProvided removes what was written down for a work tree.
func (w Worktree) ForgetProvided() error { return removeFile(w.providedFile()) }

func readProvided(path string) (Provided, error) { return readDocument[Provided](path, maxProvided) }
