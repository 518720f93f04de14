//go:build badstore_index

package gitstate

import "os"

// putIndex writes the index in place. It is wrong, for a test of the tests.
func putIndex(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o644); err != nil {
		return err
	}
	return os.Remove(from)
}
