package gitstate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPythonDirs finds where Pythons keep their packages.
func TestPythonDirs(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	prefix := filepath.Join(r.home, "py")
	env := []string{"PATH=" + filepath.Join(prefix, "bin"), "HOME=" + r.home}
	site := func(parts ...string) string { return filepath.Join(append([]string{prefix}, parts...)...) }
	var want []string
	check := func(what string) {
		t.Helper()
		for range 2 {
			if got := pythonDirs(env); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
	}
	check("nothing there")
	r.must(os.MkdirAll(site("lib", "python3.11"), 0o755))
	check("a Python without packages")
	want = []string{site("lib", "python3.11", "site-packages")}
	r.must(os.Mkdir(want[0], 0o755))
	check("packages")
	r.must(os.MkdirAll(site("lib", "python3.12", "site-packages"), 0o755))
	want = append(want, site("lib", "python3.12", "site-packages"))
	check("another Python")
	r.must(os.RemoveAll(want[0]))
	want = want[1:]
	check("without packages again")
	user := filepath.Join(r.home, ".local", "lib", "python3.12", "site-packages")
	r.must(os.MkdirAll(user, 0o755))
	want = append(want, user)
	check("those of the user")
}
