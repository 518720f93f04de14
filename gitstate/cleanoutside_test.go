package gitstate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// What a manifest names beside the work tree is found beside the clean tree, and nothing is kept of what was judged with it.
func TestCleanBeside(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	beside := func(name string) string { return filepath.Join(filepath.Dir(r.root), name) }
	r.write("go.mod", "module x\n\nreplace example.org/lib => ../lib\n// ../nowhere ../../far\n")
	r.write("tools/Cargo.toml", "[dependencies]\nown = {path = \"../src\"}\nlib2 = {path = \"../../lib2/deep\"}\n")
	for _, name := range []string{"lib", "lib2", "far"} {
		if err := errors.Join(os.MkdirAll(beside(name), 0o755), os.WriteFile(filepath.Join(beside(name), "x"), []byte(name), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	tree := r.snap()
	if got := r.Outside(); !slices.Equal(got, []string{"lib", "lib2"}) {
		t.Errorf("outside are %q", got)
	}
	dir := filepath.Join(r.home, "clean", "12345678", "repo")
	clean := func(tree session.Tree) session.CleanTree {
		t.Helper()
		c, err := r.CleanTree(ctx, dir, tree, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	links := func() (list []string) {
		entries, _ := os.ReadDir(filepath.Dir(dir))
		for _, e := range entries {
			if e.Type()&os.ModeSymlink != 0 {
				list = append(list, e.Name())
			}
		}
		return list
	}
	for range 2 {
		c := clean(tree)
		if got := links(); !slices.Equal(got, []string{"lib", "lib2"}) || c.LeadsBack != nil || c.Digest != "" {
			t.Errorf("links are %q, digest %q, %+v", got, c.Digest, c.LeadsBack)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "..", "lib", "x")); string(data) != "lib" {
		t.Errorf("%q %v", data, err)
	}

	// Another copy of the project is not outside of it.
	r.run("worktree", "add", "-q", "--detach", beside("other"))
	r.write("go.mod", "module x\n\nreplace example.org/lib => ../other/lib\n")
	if c := clean(r.snap()); c.LeadsBack == nil || c.LeadsBack.Path != "go.mod" {
		t.Errorf("leads back: %+v", c.LeadsBack)
	}
	r.write("go.mod", "module x\n")
	r.write("tools/Cargo.toml", "")
	if c := clean(r.snap()); len(links()) > 0 || c.LeadsBack != nil || c.Digest == "" {
		t.Errorf("left are %q, digest %q, %+v", links(), c.Digest, c.LeadsBack)
	}
}

// Directories that git ignores and editable installs lead to come along, and so does what Yarn keeps.
func TestCleanLed(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	r.write(".gitignore", ".venv/\nbuild/\n.pnp.*\n.yarn/cache\n.yarn/install-state.gz\n")
	r.write("src/calc/__init__.py", "")
	r.write(".yarn/releases/yarn.cjs", "tracked")
	tree := r.snap()
	r.write(".venv/pyvenv.cfg", "")
	r.write(".venv/lib/python3.12/site-packages/__editable__.calc-0.1.pth", filepath.Join(r.root, "build", "__editable__.calc")+"\n")
	r.write("build/lib/other.py", "not led to")
	for name, text := range map[string]string{".pnp.cjs": "1", ".pnp.js": "1", ".yarn/cache/x.zip": "1", ".yarn/install-state.gz": "1", ".yarn/other": "1"} {
		r.write(name, text)
	}
	link := filepath.Join(r.root, "build", "__editable__.calc", "calc", "__init__.py")
	if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(filepath.Join(r.root, "src", "calc", "__init__.py"), link)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(r.home, "clean", "repo")
	var digest string
	for range 2 {
		c, err := r.CleanTree(ctx, dir, tree, nil, nil)
		if err != nil || c.LeadsBack != nil {
			t.Fatal(err, c.LeadsBack)
		}
		want := r.treeFiles(tree)
		want[".venv/pyvenv.cfg"] = ""
		want[".venv/lib/python3.12/site-packages/__editable__.calc-0.1.pth"] = filepath.Join(dir, "build", "__editable__.calc") + "\n"
		want["build/__editable__.calc/calc/__init__.py"] = "-> " + filepath.Join(dir, "src", "calc", "__init__.py")
		for _, name := range []string{".pnp.cjs", ".pnp.js", ".yarn/cache/x.zip", ".yarn/install-state.gz"} {
			want[name] = "1"
		}
		sameFiles(t, under(t, dir), want)
		if digest != "" && digest != c.Digest {
			t.Errorf("nothing changed, and the digest went from %s to %s", digest, c.Digest)
		}
		digest = c.Digest
	}
}
