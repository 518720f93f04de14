package registry

import (
	"path/filepath"

	"github.com/wfs-dev/wfs/session"
)

// Provided lists the files that wfs brought into a session's own work tree when it was created, and the ignored files
// that its set-up left there. Paths are relative to its top; directories end in a slash where git prints one. As long
// as they are unchanged, they can be recreated.
type Provided struct {
	Version int               `json:"v"`
	Session session.ID        `json:"session"`
	Dir     string            `json:"dir"`
	Linked  []string          `json:"linked,omitempty"`
	Copied  []string          `json:"copied,omitempty"`
	Stamps  map[string]string `json:"stamps,omitempty"` // files from the set-up, each with a digest that shows a change
}

const maxProvided = 16 << 20

func (w Worktree) providedFile() string {
	return filepath.Join(w.dir(), "provided")
}

// KeepProvided records the list for a work tree.
func (w Worktree) KeepProvided(p Provided) error {
	p.Version = FormatVersion
	return w.clone.writeDocument(w.providedFile(), p)
}

// Provided returns the list for a session's work tree in a directory, or the zero value if there is none, or only one
// for another work tree of that name.
func (w Worktree) Provided(id session.ID, dir string) (Provided, error) {
	p, err := readProvided(w.providedFile())
	if err != nil || p.Session != id || p.Dir != dir {
		return Provided{}, ifThere(err)
	}
	return p, nil
}

// ForgetProvided removes the list of a work tree.
func (w Worktree) ForgetProvided() error { return removeFile(w.providedFile()) }

func readProvided(path string) (Provided, error) { return readDocument[Provided](path, maxProvided) }
