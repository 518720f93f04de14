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
	var digest string
	for range 2 {
		c, err := r.CleanTree(ctx, dir, tree, nil, nil)
		if err != nil || c.LeadsBack != nil {
			t.Fatal(err, c.LeadsBack)
		}
		want := r.treeFiles(tree)
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

// What links lead to elsewhere, and directories with nothing in them, change what is judged.
func TestCleanDigestOfLinksAway(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	away := func(name string) string { return filepath.Join(r.home, "away", name) }
	write := func(file, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, rel string) {
		t.Helper()
		at := filepath.Join(r.root, rel)
		if err := errors.Join(os.RemoveAll(at), os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(to, at)); err != nil {
			t.Fatal(err)
		}
	}
	write(away("data"), "good")
	write(away("node_modules/lib/index.js"), "1")
	write(away("src/index.js"), "1")
	r.write(".gitignore", "node_modules\n")
	r.write("node_modules/own/index.js", "1")
	link(away("data"), "data")
	link(away("later"), "later")
	link(".gitignore", "within")
	link(away("node_modules/lib"), "node_modules/lib")
	dir := filepath.Join(r.home, "clean", "repo")
	digest := func() string {
		t.Helper()
		c, err := r.CleanTree(ctx, dir, r.snap(), nil, nil)
		if err != nil || c.LeadsBack != nil {
			t.Fatal(err, c.LeadsBack)
		}
		return c.Digest
	}
	last := digest()
	if again := digest(); last == "" || again != last {
		t.Errorf("nothing changed, and the digest went from %q to %q", last, again)
	}
	for _, change := range []struct {
		what string
		do   func()
	}{
		{"a tracked link's file", func() { write(away("data"), "bad") }},
		{"a tracked link leads somewhere now", func() { write(away("later"), "") }},
		{"an empty directory of a package", func() { _ = os.Mkdir(filepath.Join(r.root, "node_modules/own/spool"), 0o755) }},
		{"another place of a package", func() { link(away("node_modules"), "node_modules/lib") }},
	} {
		change.do()
		now := digest()
		if now == "" || now == last {
			t.Errorf("%s: the digest is %q, and was %q", change.what, now, last)
		}
		last = now
	}
	for _, rel := range []string{"data", "node_modules/lib"} {
		link(away("src"), rel)
		if now := digest(); now != "" {
			t.Errorf("%s leads to a directory in which nobody looks whether something changes: the digest is %q", rel, now)
		}
		link(away("data"), rel)
		if now := digest(); now == "" {
			t.Errorf("%s leads there no more, and there is no digest", rel)
		}
	}
}
