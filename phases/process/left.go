package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/redact"
)

// Reason returns the text of an error without paths of this machine, so that it can be stored and shared.
func Reason(err error) string {
	var at *fs.PathError
	for _, known := range []error{durable.ErrNotRegular, durable.ErrTooLarge} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

// maxLeft limits the files that are searched for secrets after a run, in bytes. Larger files are removed, because wfs
// never reads them again.
const maxLeft = 64 << 20

// Clean removes secrets from a file, or all files in a directory, that a run or a gate wrote. It is called after wfs
// has read the files. `name` need not exist.
func Clean(name string, secrets *redact.Redactor) error {
	return filepath.WalkDir(name, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if err := os.Chmod(name, 0o600); err != nil { // an agent creates files as its umask says
			return err
		}
		text, err := durable.ReadFile(name, maxLeft)
		switch safe := secrets.String(string(text)); {
		case errors.Is(err, durable.ErrTooLarge):
			return os.Remove(name)
		case err != nil:
			return err
		case safe != string(text):
			return durable.WriteCache(name, []byte(safe), 0o600)
		}
		return nil
	})
}
