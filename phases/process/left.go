package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/redact"
)

// Reason leaves paths of this machine out.
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

// maxLeft is how much of a file that a run has left is looked through, in bytes. Larger ones are removed: they
// are never read again.
const maxLeft = 64 << 20

// Clean takes secrets out of what a run or a gate has written itself into its directory, now that it is
// read: a file, or a directory of files. What is not there is no error.
func Clean(name string, secrets *redact.Redactor) error {
	return filepath.WalkDir(name, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if err := os.Chmod(name, 0o600); err != nil { // an agent makes files as the umask says
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
