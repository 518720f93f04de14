//go:build badstore_refs

package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// updateRef writes the file of a ref in place, without a lock and without a look at what it was. It is wrong, for a
// test of the tests.
func (r *Repo) updateRef(_ context.Context, line string, _ []string) error {
	words := strings.Fields(line)
	path := filepath.Join(r.commonDir, filepath.FromSlash(words[1]))
	if words[0] == "delete" {
		return os.Remove(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(words[2]+"\n"), 0o666)
}
