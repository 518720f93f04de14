package verdict

import (
	"testing"

	"github.com/wfs-dev/wfs/session"
)

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

// TestElsewhere tells tests that a change of another test cannot have changed from those that it may have changed.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		change   string
		id, file string // of the test
		want     bool
	}{
		{"b_test.go", "x.org/a/b.TestOld", "", false}, // the module may have any name
		{"b/b_test.go", "x.org/a/b.TestOld", "", false},
		{"b/b_test.go", "x.org/a/c.TestOld", "", true},
		{"b/help.go", "x.org/a/c.TestOld", "", false},
		{"b/testdata/x.txt", "x.org/a/c.TestOld", "", false},
		{"tests/test_b.py", "tests.test_b.TestB::test_old", "", false},
		{"tests/test_b.py", "tests.test_c.TestB::test_old", "", true},
		{"tests/conftest.py", "tests.test_c.TestB::test_old", "", false},
		{"test/b.test.js", "test/b.test.js::old", "test/b.test.js", false},
		{"test/b.test.js", "test/c.test.js::old", "test/c.test.js", true},
		{"test/b.test.js", "old", "", false},
		{"docs/b.md", "old", "", true},
	} {
		l := &Files{Now: func(string) []byte { return nil }, Changes: []session.Change{{Path: tc.change, Status: "M"}}}
		if got := l.Elsewhere(session.TestID(tc.id), tc.file); got != tc.want {
			t.Errorf("%s, %s changed: %v", tc.id, tc.change, got)
		}
	}
}
