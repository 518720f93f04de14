package room

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// under returns the contents of the files and links below a directory, without .git.
func under(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		rel = filepath.ToSlash(rel)
		switch {
		case rel == ".git":
			return filepath.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			got[rel] = "-> " + to
			return err
		case d.Type().IsRegular():
			data, err := os.ReadFile(p)
			got[rel] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func sameFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if have, ok := got[name]; !ok || have != text {
			t.Errorf("%s is %q, want %q", name, have, text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is there and not in the tree", name)
		}
	}
}

// freshRoom makes a room with the present packages of the work tree.
func (r *testRepo) freshRoom(q Request) (session.CleanTree, error) {
	var err error
	if q.Packages, err = r.PackagesDigest(context.Background(), q.Tree); err != nil {
		return session.CleanTree{}, err
	}
	q.Name, q.Judged = "of-"+q.Packages, q.Tree
	for _, other := range r.rooms() { // others have other directories
		if other != q.Name {
			if err := r.Forget(other); err != nil {
				return session.CleanTree{}, err
			}
		}
	}
	return r.Make(context.Background(), q)
}

func (r *testRepo) rooms() (names []string) {
	entries, _ := os.ReadDir(filepath.Dir(r.memory("x")))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// layIn lays a tree out in a room called "test".
func (r *testRepo) layIn(ctx context.Context, dir string, tree session.Tree, keep func(string) bool) error {
	return r.layout(dir, "test").lay(ctx, tree,
		func(_ *treeNames, rel string) bool { return keep != nil && keep(rel) })
}

func TestMaterialise(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	dir := filepath.Join(r.home, "clean", "repo")
	r.write("pkg/b.txt", "b\n")
	r.write("ignored.txt", "not part of it\n")
	r.write(".gitignore", "ignored.txt\n")
	if err := os.Symlink("pkg/b.txt", filepath.Join(r.Git.Root, "link")); err != nil {
		t.Fatal(err)
	}
	first := r.snap()
	make := func(tree session.Tree, keep func(string) bool) {
		t.Helper()
		if err := r.layIn(ctx, dir, tree, keep); err != nil {
			t.Fatal(err)
		}
	}
	make(first, nil)
	sameFiles(t, under(t, dir), r.treeFiles(first))

	// Another tree: files that do not change are not written again.
	before, err := os.Stat(filepath.Join(dir, "pkg", "b.txt"))
	if err != nil {
		t.Fatal(err)
	}
	r.write("a.txt", "changed\n")
	r.write("new/c.txt", "c\n")
	second := r.snap()
	make(second, nil)
	sameFiles(t, under(t, dir), r.treeFiles(second))
	if after, err := os.Stat(filepath.Join(dir, "pkg", "b.txt")); err != nil ||
		!after.ModTime().Equal(before.ModTime()) || !os.SameFile(before, after) {
		t.Errorf("a file that is the same in both trees was written again: %v", err)
	}

	// A command in the room changed files and set their times back, created others, and protected them from being
	// removed.
	info, _ := os.Stat(filepath.Join(dir, "a.txt"))
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755),
			os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("a.txt", "forged!\n")
	if err := os.Chtimes(filepath.Join(dir, "a.txt"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	write("left/behind.txt", "x")
	write("ignored.txt", "x")
	write("cache/kept.txt", "kept")
	if err := errors.Join(os.Remove(filepath.Join(dir, "link")), os.Symlink("/etc/passwd", filepath.Join(dir, "link")),
		os.RemoveAll(filepath.Join(dir, "new")), os.Chmod(filepath.Join(dir, "left"), 0o500)); err != nil {
		t.Fatal(err)
	}
	write("new", "a file where a directory was")
	write(".git/config", "[core]\n\tbare = true\n")
	make(second, func(rel string) bool { return rel == "cache" })
	want := r.treeFiles(second)
	want["cache/kept.txt"] = "kept"
	sameFiles(t, under(t, dir), want)

	// Back to the first tree, with nothing kept.
	make(first, nil)
	sameFiles(t, under(t, dir), r.treeFiles(first))

	// The layout's records do not match the directory, in every way.
	private := r.memory("test")
	live, err := os.Stat(filepath.Join(r.Git.Root, "pkg", "b.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func() error{
		"index gone":       func() error { return os.Remove(filepath.Join(private, "index")) },
		"index torn":       func() error { return os.Truncate(filepath.Join(private, "index"), 40) },
		"index locked":     func() error { return os.WriteFile(filepath.Join(private, "index.lock"), nil, 0o600) },
		"memory gone":      func() error { return os.RemoveAll(private) },
		"directory gone":   func() error { return os.RemoveAll(dir) },
		"directory a file": func() error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) },
		"half removed":     func() error { return os.RemoveAll(filepath.Join(dir, "pkg")) },
		"led elsewhere": func() error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, "pkg")),
				os.Symlink(filepath.Join(r.Git.Root, "pkg"), filepath.Join(dir, "pkg")))
		},
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		make(second, nil)
		if sameFiles(t, under(t, dir), r.treeFiles(second)); t.Failed() {
			t.Fatalf("%s", name)
		}
	}
	if now, err := os.Stat(filepath.Join(r.Git.Root, "pkg", "b.txt")); err != nil || !now.ModTime().Equal(live.ModTime()) {
		t.Errorf("a file of the work tree was changed through a link: %v", err)
	}
	for _, inside := range []string{filepath.Join(r.Git.Root, "clean"), filepath.Join(r.Git.CommonDir, "wfs", "clean")} {
		if err := r.layIn(ctx, inside, first, nil); err == nil {
			t.Errorf("%s was taken", inside)
		}
	}
}

// TestMaterialisedGit runs git commands in a materialised tree as tools do: none of them finds the live repository.
func TestMaterialisedGit(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := newRepo(t, "--object-format="+format)
			ctx := context.Background()
			dir := filepath.Join(r.home, "clean", "repo")
			r.git("tag", "v1.2.3")
			r.git("remote", "add", "origin", "https://example.org/x.git")
			r.write("b.txt", "b\n")
			tree := r.snap()
			for range 2 { // only the first room asks git how a new repository is configured
				if err := r.layIn(ctx, dir, tree, nil); err != nil {
					t.Fatal(err)
				}
			}
			ask := func(args ...string) string {
				t.Helper()
				c := exec.Command("git", args...)
				c.Dir, c.Env = dir, r.env
				out, err := c.CombinedOutput()
				if err != nil {
					t.Fatalf("git %v: %v: %s", args, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			for _, q := range []struct {
				args []string
				want string
			}{
				{[]string{"rev-parse", "--show-toplevel"}, dir},
				{[]string{"rev-parse", "--absolute-git-dir"}, filepath.Join(dir, ".git")},
				{[]string{"status", "--porcelain"}, ""},
				{[]string{"ls-files"}, "a.txt\nb.txt"},
				{[]string{"rev-parse", "HEAD^{tree}"}, string(tree)},
				{[]string{"describe", "--tags", "HEAD~1"}, "v1.2.3"},
				{[]string{"remote"}, ""},
				{[]string{"fsck"}, ""},
			} {
				if got := ask(q.args...); got != q.want && q.args[0] != "fsck" {
					t.Errorf("git %s: %q, want %q", strings.Join(q.args, " "), got, q.want)
				}
			}
			refs := r.git("for-each-ref")
			ask("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "--allow-empty", "-m", "of a gate's")
			if now := r.git("for-each-ref"); now != refs {
				t.Errorf("a commit there moved refs here:\n%s\nwas\n%s", now, refs)
			}
		})
	}
}

// TestCleanTree brings dependencies to a clean tree: nothing in it leads back to the work tree, or that is reported.
func TestCleanTree(t *testing.T) {
	r := newRepo(t)
	dir := filepath.Join(r.home, "clean", "repo")
	r.write(".gitignore", "node_modules/\n.venv/\n.env\ndata/\ntarget/\n")
	r.write("packages/a/index.js", "live\n")
	r.write("src/calc/__init__.py", "live\n")
	r.write("Cargo.toml", "")
	tree := r.snap()
	for name, text := range map[string]string{
		"node_modules/left/index.js":  "third party\n",
		"node_modules/.bin/tool":      "#!/bin/sh\n",
		"node_modules/.cache/x":       "a tool's own\n",
		"packages/a/node_modules/m/x": "nested\n",
		".env":                        "KEY=1\n",
		"data/deep/d.bin":             "data\n",
		"other-ignored/x":             "not asked for\n",
		"target/debug/x":              "of the work tree's own builds\n",
	} {
		r.write(name, text)
	}
	link := func(to, name string) {
		t.Helper()
		file := filepath.Join(r.Git.Root, name)
		if err := errors.Join(os.RemoveAll(file), os.MkdirAll(filepath.Dir(file), 0o755), os.Symlink(to, file)); err != nil {
			t.Fatal(err)
		}
	}
	link("../packages/a", "node_modules/a")
	link("/usr/bin/env", "node_modules/.bin/env")
	clean := func() session.CleanTree {
		t.Helper()
		c, err := r.freshRoom(Request{Dir: dir, Tree: tree, Further: []string{".env", "data/**"}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := clean()
	if c.LeadsBack != nil {
		t.Errorf("leads back: %+v", c.LeadsBack)
	}
	want := r.treeFiles(tree)
	for name, text := range map[string]string{
		"node_modules/left/index.js": "third party\n", "packages/a/node_modules/m/x": "nested\n",
		"node_modules/a": "-> ../packages/a", "node_modules/.bin/env": "-> /usr/bin/env",
		"node_modules/.bin/tool": "#!/bin/sh\n", ".env": "KEY=1\n", "data/deep/d.bin": "data\n",
	} {
		want[name] = text
	}
	sameFiles(t, under(t, dir), want)

	// The same again: leftovers of gates are gone, except for builds and caches.
	inRoom := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"node_modules/.cache/x", "target/debug/made", "data/more", ".env"} {
		inRoom(name, "x")
	}
	if changed := c.Changed(); changed != "" {
		t.Errorf("%s is said to be changed", changed)
	}
	clean()
	want["target/debug/made"], want["node_modules/.cache/x"] = "x", "x"
	sameFiles(t, under(t, dir), want)

	// Installed files are not the same files as those of the work tree, and a change to them is noticed: then
	// everything is made again.
	delete(want, "target/debug/made")
	delete(want, "node_modules/.cache/x")
	installed := filepath.Join(dir, "node_modules", "left", "index.js")
	for name, change := range map[string]func() error{
		"node_modules/left/index.js": func() error {
			info, err := os.Stat(installed)
			return errors.Join(err, os.WriteFile(installed, []byte("3rd party..\n"), 0o644),
				os.Chtimes(installed, info.ModTime(), info.ModTime()))
		},
		"node_modules/left/": func() error { return os.RemoveAll(filepath.Dir(installed)) },
		"node_modules/": func() error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, "node_modules")),
				os.Symlink(r.Git.Root, filepath.Join(dir, "node_modules")))
		},
		"node_modules/left/new": func() error {
			return os.WriteFile(filepath.Join(filepath.Dir(installed), "new"), nil,
				0o644)
		},
		"node_modules/spool/": func() error { return os.Mkdir(filepath.Join(dir, "node_modules", "spool"), 0o755) },
		"node_modules/.bin/env": func() error {
			file := filepath.Join(dir, "node_modules/.bin/env")
			return errors.Join(os.Remove(file), os.Symlink("/bin/true", file))
		},
		"node_modules/.bin/tool": func() error { return os.Chmod(filepath.Join(dir, "node_modules/.bin/tool"), 0o755) },
	} {
		c := clean()
		inRoom("target/debug/made", "x")
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if changed := c.Changed(); changed != name {
			t.Errorf("%s was changed, and %q is said", name, changed)
		}
		clean()
		sameFiles(t, under(t, dir), want)
		if live, err := os.ReadFile(filepath.Join(r.Git.Root,
			"node_modules/left/index.js")); string(live) != "third party\n" {
			t.Fatalf("the work tree has %q, %v", live, err)
		}
	}

	r.write("node_modules/left/index.js", "3rd party..\n")
	clean()
	want["node_modules/left/index.js"] = "3rd party..\n"
	sameFiles(t, under(t, dir), want)

	// Links that lead back to the work tree are reported, or to another work tree of the repository.
	other := filepath.Join(r.home, "other")
	r.git("worktree", "add", "-q", "--detach", other)
	global := filepath.Join(r.home, "global")
	if err := os.Symlink(filepath.Join(r.Git.Root, "packages", "a"), global); err != nil {
		t.Fatal(err)
	}
	for name, lead := range map[string]func(){
		"node_modules/a":         func() { link(other, "node_modules/a") },
		"node_modules/absolute":  func() { link(filepath.Join(r.Git.Root, "packages", "a"), "node_modules/absolute") },
		"node_modules/linked":    func() { link(global, "node_modules/linked") },
		"node_modules/.bin/vite": func() { r.write("node_modules/.bin/vite", "NODE_PATH="+r.Git.Root+"/node_modules\n") },
		// alone, this file does not count as a change of the packages that were copied before
		"node_modules/.modules.yaml": func() {
			r.write("node_modules/.pnpm/lock.yaml", "")
			r.write("node_modules/.modules.yaml", "virtualStoreDir: "+r.Git.Root+"/node_modules/.pnpm\n")
		},
		".venv": func() { r.write(".venv/pyvenv.cfg", "home = /usr/bin\n") },
	} {
		lead()
		for range 2 {
			if c := clean(); c.LeadsBack == nil || c.LeadsBack.Path != name {
				t.Errorf("%s: %+v", name, c.LeadsBack)
			}
		}
		if err := os.RemoveAll(filepath.Join(r.Git.Root, name)); err != nil {
			t.Fatal(err)
		}
		link("../packages/a", "node_modules/a")
	}
	if err := os.RemoveAll(filepath.Join(r.Git.Root, ".venv")); err != nil {
		t.Fatal(err)
	}
	if c := clean(); c.LeadsBack != nil {
		t.Errorf("nothing leads back, and this is said: %+v", c.LeadsBack)
	}
}

// TestCleanOutside has an editable install in a Python elsewhere.
func TestCleanOutside(t *testing.T) {
	r := newRepo(t)
	r.write("src/calc/__init__.py", "")
	tree := r.snap()
	venv := filepath.Join(r.home, "venvs", "calc-x")
	site := filepath.Join(venv, "lib", "python3.12", "site-packages")
	if err := errors.Join(os.MkdirAll(site, 0o755),
		os.WriteFile(filepath.Join(site, "calc.pth"), []byte(filepath.Join(r.Git.Root, "src")+"\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(r.home, "clean", "repo")
	c, err := r.freshRoom(Request{Dir: dir, Tree: tree, Env: []string{"PATH=" + filepath.Join(venv, "bin") + ":/usr/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(site, "calc.pth")
	if want := (session.LeadsBack{Path: file, To: r.Git.Root}); c.LeadsBack == nil ||
		*c.LeadsBack != want {
		t.Errorf("leads back: %+v, want %+v", c.LeadsBack, want)
	}
	// One of another project is ignored.
	if err := os.WriteFile(file, []byte(filepath.Join(r.home, "other-clone", "src")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + filepath.Join(venv, "bin")}
	if c, err := r.freshRoom(Request{Dir: dir, Tree: tree, Env: env}); err != nil || c.LeadsBack != nil {
		t.Errorf("another project: %+v %v", c.LeadsBack, err)
	}
}
