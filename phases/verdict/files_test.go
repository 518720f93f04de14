package verdict

import "testing"

// TestOwnPackage: Node does not find the project itself before it has exports. Other packages are not part of the work.
func TestOwnPackage(t *testing.T) {
	t.Parallel()
	l := &Files{Now: func(path string) []byte {
		if path == "package.json" {
			return []byte(`{"name": "slugline"}`)
		}
		return nil
	}}
	for message, want := range map[string]string{
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'slugline' imported from /top/test/esm.test.mjs": "slugline",
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'slug' imported from /top/test/esm.test.mjs":     "",
		"SyntaxError: Unexpected token": "",
	} {
		if got := l.ownPackage(message); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}
