package registry

import (
	"path/filepath"

	"github.com/wfs-dev/wfs/session"
)

// Provided lists the files in a session's own work tree that wfs can recreate: the files that it linked or copied there
// when it created the work tree, and the ignored files that the set-up command produced. A listed file is dispensable
// as long as it is unchanged. Paths are relative to the top of the work tree; a directory ends in a slash where git
// prints one.
type Provided struct {
	Version int               `json:"v"`
	Session session.ID        `json:"session"`
	Dir     string            `json:"dir"`
	Linked  []string          `json:"linked,omitempty"`
	Copied  []string          `json:"copied,omitempty"`
	Stamps  map[string]string `json:"stamps,omitempty"` // the set-up's files: path to fingerprint
}

const maxProvided = 16 << 20

func (w Worktree) providedFile() string {
	return filepath.Join(w.dir(), "provided")
}

// KeepProvided stores the list for a work tree.
func (w Worktree) KeepProvided(p Provided) error {
	p.Version = FormatVersion
	return w.clone.writeDocument(w.providedFile(), p)
}

// Provided returns the list for a session's work tree in the directory `dir`. It returns the zero value if no list is
// stored, or if the stored list is for another session or another directory.
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
