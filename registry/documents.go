package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// A document is a small file that contains one JSON object, with the version of its format.

// readDocument reads a document of at most `most` bytes. The error is ErrCorrupt if it is not valid JSON, and
// session.ErrNewer if a newer wfs wrote it.
func readDocument[T any](path string, most int64) (d T, err error) {
	data, err := durable.ReadFile(path, most)
	if err != nil {
		return d, err
	}
	var head struct {
		V int `json:"v"`
	}
	if err := errors.Join(json.Unmarshal(data, &head), json.Unmarshal(data, &d)); err != nil {
		return d, corrupt(path, err)
	}
	if head.V > FormatVersion {
		return d, fmt.Errorf("%s: %w", path, session.ErrNewer)
	}
	return d, nil
}

func corrupt(path string, why any) error { return fmt.Errorf("%w: %s: %v", ErrCorrupt, path, why) }

// writeDocument writes a document durably, and creates its directory if needed.
func (c *Clone) writeDocument(path string, d any) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if err := c.make(filepath.Dir(path)); err != nil {
		return err
	}
	return durable.WriteFile(path, append(data, '\n'), 0o600)
}

// removeFile removes a file, if it exists.
func removeFile(path string) error { return ifThere(os.Remove(path)) }

// entriesOf lists a directory. For a missing directory the list is empty.
func entriesOf(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	return entries, ifThere(err)
}

// ifThere returns err, or nil if err says that a file does not exist.
func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
