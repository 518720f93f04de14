package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

const (
	excludeName = "exclude"
	runsName    = "runs"
)

// maxExclude bounds an exclude file, in bytes.
const maxExclude = 16 << 20

// RunDir returns the directory of one run, made if need be.
func (j *Journal) RunDir(runID string) (string, error) {
	dir, err := j.clone.RunDir(j.id, runID)
	if err != nil {
		return "", err
	}
	return dir, j.clone.make(dir)
}

// RunDir is where the files of one run are, whether they are there or not.
func (c *Clone) RunDir(id session.ID, runID string) (string, error) {
	dir, err := c.sessionDir(id)
	if err != nil {
		return "", err
	}
	if err := checkName("run", runID); err != nil {
		return "", err
	}
	return filepath.Join(dir, runsName, runID), nil
}

// ExcludeFile is the path of the session's exclude file, "" when it has none.
func (j *Journal) ExcludeFile() string { return j.clone.ExcludeFile(j.id) }

// Exclude returns the text of the session's exclude file, nil when it has none.
func (j *Journal) Exclude() ([]byte, error) {
	text, err := durable.ReadFile(filepath.Join(j.dir, excludeName), maxExclude)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// SetExclude replaces the session's exclude file durably.
func (j *Journal) SetExclude(content []byte) error {
	return durable.WriteFile(filepath.Join(j.dir, excludeName), content, 0o600)
}

// ExcludeFile is the path of a session's exclude file, "" when it has none.
func (c *Clone) ExcludeFile(id session.ID) string {
	dir, err := c.sessionDir(id)
	if err != nil {
		return ""
	}
	path := filepath.Join(dir, excludeName)
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}
