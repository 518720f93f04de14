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

// What a manifest names beside the work tree is found beside the clean tree.
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
	dir := filepath.Join(r.home, "clean", "12345678", "repo")
	clean := func(tree session.Tree) session.CleanTree {
		t.Helper()
		c, err := r.Room(ctx, RoomRequest{Dir: dir, Tree: tree, Judged: tree, Fresh: true})
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
		if got := links(); !slices.Equal(got, []string{"lib", "lib2"}) || c.LeadsBack != nil {
			t.Errorf("links are %q, %+v", got, c.LeadsBack)
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
	if c := clean(r.snap()); len(links()) > 0 || c.LeadsBack != nil {
		t.Errorf("left are %q, %+v", links(), c.LeadsBack)
	}
}

// What Yarn keeps comes along.
func TestCleanYarn(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	r.write(".gitignore", ".pnp.*\n.yarn/cache\n.yarn/install-state.gz\n")
	r.write("src/calc/__init__.py", "")
	r.write(".yarn/releases/yarn.cjs", "tracked")
	tree := r.snap()
	for name, text := range map[string]string{".pnp.cjs": "1", ".pnp.js": "1", ".yarn/cache/x.zip": "1", ".yarn/install-state.gz": "1", ".yarn/other": "1"} {
		r.write(name, text)
	}
	dir := filepath.Join(r.home, "clean", "repo")
	var packages string
	for range 2 {
		c, err := r.Room(ctx, RoomRequest{Dir: dir, Tree: tree, Judged: tree, Fresh: true})
		if err != nil || c.LeadsBack != nil {
			t.Fatal(err, c.LeadsBack)
		}
		want := r.treeFiles(tree)
		for _, name := range []string{".pnp.cjs", ".pnp.js", ".yarn/cache/x.zip", ".yarn/install-state.gz"} {
			want[name] = "1"
		}
		sameFiles(t, under(t, dir), want)
		if packages != "" && packages != c.Packages {
			t.Errorf("nothing changed, and the packages went from %s to %s", packages, c.Packages)
		}
		packages = c.Packages
	}
}
