package gitstate

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What is installed is found beside the files of the tree, whatever of it is new; caches are passed over.
func TestInstalled(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	ctx := context.Background()
	r.write(".gitignore", "node_modules/\nvendor/\nvenv/\n")
	r.write("web/app.js", "1")
	r.write("package.json", "{}")
	r.write("go.mod", "module x")
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "files")
	if s, err := r.Installed(ctx, nil, nil); err != nil || s != nil {
		t.Errorf("before a snapshot: %+v %v", s, err)
	}
	r.snapshot()
	outside := filepath.Join(r.home, "py", "lib", "python3.12", "site-packages")
	for name, text := range map[string]string{
		"node_modules/left/package.json":    `{"version": "1.0.0"}`,
		"node_modules/left/.cache/x":        "cache",
		"node_modules/.vite/x":              "cache",
		"node_modules/.package-lock.json":   "{}",
		"web/node_modules/deep/index.js":    "1",
		"vendor/m/m.go":                     "package m",
		"venv/pyvenv.cfg":                   "home = /usr/bin",
		"venv/bin/tool":                     "#!",
		"venv/share/man/x":                  "no code",
		"venv/lib/python3.12/site-packages": "",
		"new/code.js":                       "not in the index yet",
		"new/node_modules/y/index.js":       "1",
	} {
		if text == "" {
			if err := os.MkdirAll(r.path(name), 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		r.write(name, text)
	}
	r.write("venv/lib/python3.12/site-packages/six.py", "1")
	if err := errors.Join(os.Symlink("../left/cli.js", r.path("node_modules/left.js")), os.MkdirAll(filepath.Join(outside, "a-1.dist-info"), 0o755),
		os.WriteFile(filepath.Join(outside, "x.pth"), []byte("import x"), 0o644), os.WriteFile(filepath.Join(outside, "mod.py"), nil, 0o644),
		os.WriteFile(filepath.Join(outside, "a-1.dist-info", "RECORD"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + filepath.Join(r.home, "py", "bin")}
	r.snapshot()
	if r.last.Load() == nil && tellingDevice(r.root) != 0 {
		t.Error("the snapshot does not say where to look")
	}
	first, err := r.Installed(ctx, nil, env)
	if err != nil || first == nil {
		t.Fatal(first, err)
	}
	r.last.Store(nil)
	looked, err := r.Installed(ctx, nil, env)
	if err != nil || len(first.Differ(looked)) > 0 || !maps.Equal(first.Roots, looked.Roots) ||
		!slices.Equal(slices.Sorted(slices.Values(first.Manifests)), slices.Sorted(slices.Values(looked.Manifests))) {
		t.Errorf("looked for everywhere: %+v %v; where the snapshot says: %+v", looked, err, first)
	}
	want := []string{"node_modules/left.js", "node_modules/left/package.json", "new/node_modules/y/index.js", "vendor/m/m.go", "venv/bin/tool", "venv/lib/python3.12/site-packages/six.py", "venv/pyvenv.cfg",
		"web/node_modules/deep/index.js", filepath.ToSlash(filepath.Join(outside, "a-1.dist-info", "RECORD")), filepath.ToSlash(filepath.Join(outside, "x.pth"))}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(first.Files)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if f := first.Files["node_modules/left/package.json"]; f.Version != "1.0.0" || f.Sum == "" {
		t.Errorf("%+v", f)
	}
	if f := first.Files["node_modules/left.js"]; f.Link != "../left/cli.js" {
		t.Errorf("%+v", f)
	}
	if !slices.Equal(slices.Sorted(slices.Values(first.Manifests)), []string{"go.mod", "package.json"}) {
		t.Errorf("%q", first.Manifests)
	}

	r.write("elsewhere/node_modules/x/index.js", "not beside a file of the tree")
	r.snapshot()
	if looked, err = r.Installed(ctx, nil, env); err != nil || len(first.Differ(looked)) > 0 {
		t.Errorf("elsewhere: %q %v", first.Differ(looked), err)
	}

	// What is untouched is not read again; what says the same is the same, and what was edited in its place is not.
	file := r.path("node_modules/left/package.json")
	lied := *first
	lied.Files = maps.Clone(first.Files)
	f := lied.Files["node_modules/left/package.json"]
	f.Sum = "as it was read"
	lied.Files["node_modules/left/package.json"] = f
	again, err := r.Installed(ctx, &lied, env)
	if err != nil {
		t.Fatal(err)
	}
	if _, tells := changeOf(mustStat(t, file)); tells && again.Files["node_modules/left/package.json"].Sum != "as it was read" {
		t.Error("an untouched file was read again")
	}
	info := mustStat(t, file)
	r.write("node_modules/left/package.json", `{"version": "1.0.0"}`)
	if again, err = r.Installed(ctx, first, env); err != nil || len(first.Differ(again)) > 0 {
		t.Errorf("written again with the same content: %q %v", first.Differ(again), err)
	}
	r.write("node_modules/left/package.json", `{"version": "6.6.6"}`)
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if again, err = r.Installed(ctx, first, env); err != nil || !slices.Equal(first.Differ(again), []string{"node_modules/left/package.json"}) {
		t.Errorf("edited, with its time put back: %q %v", first.Differ(again), err)
	}
	if got := r.ReadInstalled("node_modules/left/package.json"); string(got) != `{"version": "6.6.6"}` {
		t.Errorf("%q", got)
	}
}
