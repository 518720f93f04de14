package room

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestSetUpRoom sets a directory up once, for all trees; after any change of the installed files, it is set up again.
func TestSetUpRoom(t *testing.T) {
	r := newRepo(t)
	r.write(".gitignore", "node_modules/\ntarget/\n*.egg-info/\n.env\n")
	r.write("Cargo.toml", "")
	r.write("src/calc.py", "one\n")
	first := r.snap()
	r.write("src/calc.py", "two\n")
	second := r.snap()
	r.write("node_modules/live/x", "the work tree's own")
	r.write(".env", "KEY=1")
	dir := filepath.Join(r.home, "clean", "repo")
	runs := 0
	installs := map[string]string{
		"node_modules/left/index.js": "good", "node_modules/.cache/x": "", "src/calc.egg-info/PKG": "1",
	}
	install := func() error {
		runs++
		for name, text := range installs {
			file := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
				return err
			}
		}
		return os.WriteFile(filepath.Join(dir, "src/calc.py"), []byte("changed by the set-up"), 0o644)
	}
	lay := func(tree session.Tree, want int) session.CleanTree {
		t.Helper()
		c, err := r.Make(t.Context(), Request{Dir: dir, Name: "key-0", Tree: tree, Further: []string{".env"}, SetUp: install})
		if err != nil {
			t.Fatal(err)
		}
		files := r.treeFiles(tree)
		for name, text := range installs {
			files[name] = text
		}
		files[".env"] = "KEY=1"
		sameFiles(t, under(t, dir), files)
		if runs != want {
			t.Errorf("it was set up %d times, want %d", runs, want)
		}
		if changed := c.Changed(); changed != "" {
			t.Errorf("changed %q", changed)
		}
		return c
	}
	lay(first, 1)
	want := 1
	for name, change := range map[string]func(file string) error{
		"node_modules/left/index.js": func(file string) error { return os.WriteFile(file, []byte("evil"), 0o644) },
		"src/calc.egg-info/PKG":      os.Remove,
		"node_modules/new":           func(file string) error { return os.WriteFile(file, nil, 0o644) },
	} {
		c := lay(first, want)
		if err := change(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if changed := c.Changed(); changed != name {
			t.Errorf("%s was changed, and %q is said", name, changed)
		}
		want++
		lay(second, want)
	}

	// If a set-up fails, or its result leads back to the work tree, it does not count, also not the next time.
	sealed := filepath.Join(dir, "node_modules", "new")
	for says, setUp := range map[string]func() error{
		"no network": func() error { return errors.New("no network") },
		"node_modules/us leads to": func() error {
			return errors.Join(install(), os.Symlink(r.Git.Root, filepath.Join(dir, "node_modules", "us")))
		},
	} {
		if err := os.WriteFile(sealed, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err := r.Make(t.Context(), Request{Dir: dir, Name: "key-0", Tree: first, SetUp: setUp})
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", says, err)
			}
		}
		want = runs + 1
		lay(first, want)
	}
}

func TestInstalling(t *testing.T) {
	r := newRepo(t)
	digest := func() string {
		t.Helper()
		d, err := r.Installing(t.Context(), r.snap())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	last := digest()
	for _, c := range []struct {
		file, text string
		other      bool
	}{
		{"src/a.js", "1", false},
		{"package.json", "{}", true},
		{"web/package-lock.json", "{}", true},
		{"package.json", "{\"scripts\": {}}", false},
		{"requirements-dev.txt", "pytest", true},
		{"pyproject.toml", "", true},
	} {
		r.write(c.file, c.text)
		if now := digest(); (now != last) != c.other {
			t.Errorf("%s: from %s to %s", c.file, last, now)
		} else {
			last = now
		}
	}
}

// TestRoomKeepsPackages: changes of installed packages after they were copied reach no room.
func TestRoomKeepsPackages(t *testing.T) {
	r := newRepo(t)
	r.write(".gitignore", "node_modules/\n")
	r.write("a.js", "1")
	tree := r.snap()
	digest := func() string {
		t.Helper()
		d, err := r.PackagesDigest(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if got := digest(); got != NoPackages() {
		t.Errorf("nothing is installed, and the digest is %s", got)
	}
	r.write("node_modules/m/index.js", "good")
	dir := filepath.Join(r.home, "clean", "repo")
	room := func(packages, text string, other error) {
		t.Helper()
		q := Request{Dir: dir, Name: "key-0", Tree: tree, Judged: tree, Packages: packages}
		if _, err := r.Make(t.Context(), q); !errors.Is(err, other) {
			t.Fatalf("it says %v, want %v", err, other)
		}
		data, _ := os.ReadFile(filepath.Join(dir, "node_modules", "m", "index.js"))
		if other == nil && string(data) != text {
			t.Errorf("the package is %q, want %q", data, text)
		}
	}
	good := digest()
	room(good, "good", nil)
	r.write("node_modules/m/index.js", "evil")
	room(good, "good", nil)
	if digest() == good {
		t.Error("a package was changed, and the digest was not")
	}
	if err := r.Forget("key-0"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		room(good, "", session.ErrOtherPackages) // the copy is gone
	}
	if err := os.RemoveAll(filepath.Join(r.Git.Root, "node_modules")); err != nil {
		t.Fatal(err)
	}
	r.write("node_modules/m/index.js", "good")
	room(good, "good", nil) // installed again
	r.write("node_modules/m/more.js", "")
	if digest() == good {
		t.Error("a file came, and the digest is the same")
	}
	if err := r.Forget("key-0"); err != nil {
		t.Fatal(err)
	}
	room(NoPackages(), "", nil) // and no packages that were added since
}
