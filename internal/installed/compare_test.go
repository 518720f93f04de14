package installed

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// stateOf is what a scan finds where these files are: "-> x" is a link, "#!" begins what may be run.
func stateOf(files map[string]string) *State {
	s := NewState()
	for p, text := range files {
		f := File{Size: int64(len(text)), Run: strings.HasPrefix(text, "#!")}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			f.Link, f.Size = to, 0
		} else {
			sum := sha256.Sum256([]byte(text))
			f.Sum = hex.EncodeToString(sum[:])
		}
		if path.Base(p) == "package.json" {
			f.Version = VersionOf([]byte(text))
		}
		s.Files[p] = f
		switch first, _, _ := strings.Cut(p, "/"); {
		case first == "node_modules":
			s.Roots[first] = Node
		case first == ".venv":
			s.Roots[first] = Python
		case first == "vendor":
			s.Roots[first] = Vendor
		case first == "":
			s.Roots["/py/site-packages"] = Site
		}
	}
	return s
}

const site = ".venv/lib/python3.12/site-packages/"

// distribution are the files of one, as pip installs them. files are below site-packages.
func distribution(name, version string, files map[string]string) map[string]string {
	out := map[string]string{}
	record := ""
	info := name + "-" + version + ".dist-info/"
	for _, f := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256([]byte(files[f]))
		record += fmt.Sprintf("%s,sha256=%s,%d\n", f, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[f]))
		out[path.Join(site, f)] = files[f]
	}
	if _, ok := files[info+"METADATA"]; !ok {
		out[site+info+"METADATA"] = "Name: " + name + "\n"
	}
	out[site+info+"RECORD"] = record + info + "RECORD,,\n"
	return out
}

func with(base map[string]string, more ...map[string]string) map[string]string {
	out := maps.Clone(base)
	for _, m := range more {
		for p, text := range m {
			if text == "gone" {
				delete(out, p)
			} else {
				out[p] = text
			}
		}
	}
	return out
}

func TestCompare(t *testing.T) {
	node := map[string]string{
		"node_modules/left/package.json": `{"name": "left", "version": "1.0.0", "dependencies": {"deep": "1"}}`,
		"node_modules/left/index.js":     "exports.left = 1;",
		"node_modules/left/README.md":    "left",
		"node_modules/.bin/left":         "-> ../left/cli.js",
	}
	lock := func(entries ...string) string { return "{\n" + strings.Join(entries, ",\n") + "\n}\n" }
	entry := func(name, version string) string {
		return "\"node_modules/" + name + "\": {\n  \"version\": \"" + version + "\",\n  \"resolved\": \"r\"\n}"
	}
	manifest := Text{`{"name": "top", "scripts": {"test": "node --test"}, "dependencies": {"left": "^1"}}`, `{"name": "top", "scripts": {"test": "node --test"}, "dependencies": {"left": "^1"}}`}
	locked := lock(entry("left", "1.0.0"))
	declares := map[string]Text{"package.json": manifest, "package-lock.json": {locked, locked}}
	declaring := func(name, before, after string) map[string]Text {
		d := maps.Clone(declares)
		d[name] = Text{before, after}
		return d
	}
	right := map[string]string{"node_modules/right/package.json": `{"name": "right", "version": "2.0.0", "dependencies": {"deep": "1"}}`, "node_modules/right/index.js": "1", "node_modules/.bin/right": "-> ../right/cli.js"}

	venv := with(map[string]string{".venv/pyvenv.cfg": "home = /usr/bin", ".venv/bin/python": "-> /usr/bin/python3", ".venv/bin/activate": "# activate"},
		distribution("pytest", "8.0", map[string]string{"pytest/__init__.py": "run = 1", "../../../bin/pytest": "#!py\nrun"}))
	pyproject := map[string]Text{"pyproject.toml": {"name = \"calc\"\ndependencies = [\"pytest\"]", "name = \"calc\"\ndependencies = [\"pytest\"]"}}
	plugin := distribution("pytest_quiet", "1", map[string]string{"quiet.py": "x", "pytest_quiet-1.dist-info/entry_points.txt": "[pytest11]\nq = quiet"})

	php := map[string]string{"vendor/autoload.php": "1", "vendor/composer/installed.json": "{}", "vendor/phpunit/phpunit/src/x.php": "1", "vendor/bin/phpunit": "#!php"}
	for _, c := range []struct {
		name          string
		before, after map[string]string
		declares      map[string]Text
		changed       map[string]string
		want          []string // "kind path"
	}{
		{"nothing", node, node, nil, nil, nil},
		{"the same file written again", node, with(node), nil, nil, nil},
		{"a command of its own", node, with(node, map[string]string{"node_modules/.bin/node": "#!/bin/sh\necho ok"}), nil, nil, []string{"dependency_planted node_modules/.bin/node"}},
		{"the first file there", nil, map[string]string{"node_modules/.bin/node": "#!/bin/sh\necho ok"}, nil, nil, []string{"dependency_planted node_modules/.bin/node"}},
		{"a command of the tree's", node, with(node, map[string]string{"node_modules/.bin/node": "-> ../../tools/node"}), nil, nil, []string{"dependency_planted node_modules/.bin/node"}},
		{"a command of a workspace", node, with(node, map[string]string{"node_modules/.bin/own": "-> ../../tools/own"}), nil, nil, nil},
		{"an edited package", node, with(node, map[string]string{"node_modules/left/index.js": "exports.left = 2;"}), nil, nil, []string{"dependency_edited node_modules/left/index.js"}},
		{"a file more in it", node, with(node, map[string]string{"node_modules/left/more.js": "1"}), nil, nil, []string{"dependency_edited node_modules/left/more.js"}},
		{"a text in it", node, with(node, map[string]string{"node_modules/left/notes.txt": "1", "node_modules/left/README.md": "2"}), nil, nil, nil},
		{"what it keeps", node, with(node, map[string]string{"node_modules/left/.made/x.js": "1"}), nil, nil, nil},
		{"an edited package whose lock has changed", node, with(node, map[string]string{"node_modules/left/index.js": "2"}),
			declaring("package-lock.json", locked, strings.ReplaceAll(locked, `"r"`, `"git#2"`)), nil, []string{"dependency_installed node_modules/left"}},
		{"a patched package", node, with(node, map[string]string{"node_modules/left/index.js": "2"}), declaring("patches/left+1.0.0.patch", "", "+2"), nil, []string{"dependency_installed node_modules/left"}},
		{"installed and declared", node, with(node, right), map[string]Text{"package.json": {manifest.Before, strings.ReplaceAll(manifest.After, `"left"`, `"right": "2", "left"`)},
			"package-lock.json": {locked, lock(entry("left", "1.0.0"), entry("right", "2.0.0"))}}, nil, []string{"dependency_installed node_modules/right"}},
		{"declared without a lock", nil, with(right, map[string]string{"node_modules/deep/package.json": `{"version": "1.0.0"}`, "node_modules/.bin/node": "-> ../deep/node.js"}),
			map[string]Text{"package.json": {"{}", `{"devDependencies": {"right": "2"}}`}}, nil, []string{"dependency_installed node_modules/deep", "dependency_installed node_modules/right"}},
		{"installed and not declared", node, with(node, right), nil, nil, []string{"dependency_installed node_modules/right"}},
		{"not declared and used", node, with(node, right), nil, map[string]string{"src/sub.js": "const r = require('right');"}, []string{"dependency_planted node_modules/right"}},
		{"not declared and run", node, with(node, right, map[string]string{"node_modules/.bin/node": "-> ../right/node.js"}), nil, nil,
			[]string{"dependency_planted node_modules/.bin/node", "dependency_installed node_modules/right"}},
		{"code without a package", node, with(node, map[string]string{"node_modules/sub/index.js": "1"}), nil, nil, []string{"dependency_planted node_modules/sub/index.js"}},
		{"a declared package in another", node, with(node, map[string]string{"node_modules/left/node_modules/left/package.json": `{"version": "1.0.0"}`}), nil, nil, []string{"dependency_planted node_modules/left/node_modules/left"}},
		{"another version that the lock has", node, with(node, map[string]string{"node_modules/left/package.json": `{"name": "left", "version": "1.1.0"}`}),
			declaring("package-lock.json", locked, lock(entry("left", "1.1.0"))), nil, []string{"dependency_installed node_modules/left"}},
		{"the version that the lock had all the time", node, with(node, map[string]string{"node_modules/left/package.json": `{"name": "left", "version": "1.2.0"}`}),
			map[string]Text{"package.json": manifest, "package-lock.json": {lock(entry("left", "1.2.0")), lock(entry("left", "1.2.0"))}}, nil, []string{"dependency_installed node_modules/left"}},
		{"another version that no lock has", node, with(node, map[string]string{"node_modules/left/package.json": `{"name": "left", "version": "9.9.9"}`}), nil, nil, []string{"dependency_edited node_modules/left"}},
		{"a package that tests itself with others", node, with(node, right, map[string]string{"node_modules/right/test/node_modules/foo.js": "-> .", "node_modules/right/test/node_modules/util/index.js": "1"}), nil, nil, []string{"dependency_installed node_modules/right"}},
		{"removed", node, with(node, map[string]string{"node_modules/left/package.json": "gone", "node_modules/left/index.js": "gone", "node_modules/left/README.md": "gone"}), nil, nil, []string{"dependency_removed node_modules/left"}},
		{"replaced by a link", node, with(node, map[string]string{"node_modules/left": "-> ../fake"}), nil, nil, []string{"dependency_planted node_modules/left"}},
		{"a link to a workspace", node, with(node, map[string]string{"node_modules/own": "-> ../packages/own"}), declaring("packages/own/package.json", "", `{"name": "own"}`), nil, []string{"dependency_installed node_modules/own"}},
		{"built again", with(node, map[string]string{"node_modules/left/binding.gyp": "1", "node_modules/left/build/Release/x.node": "1"}),
			with(node, map[string]string{"node_modules/left/binding.gyp": "1", "node_modules/left/build/Release/x.node": "2"}), nil, nil, nil},
		{"pnpm", map[string]string{"node_modules/.pnpm/left@1.0.0/node_modules/left/package.json": `{"version": "1.0.0"}`, "node_modules/left": "-> .pnpm/left@1.0.0/node_modules/left"},
			map[string]string{"node_modules/.pnpm/left@1.1.0/node_modules/left/package.json": `{"version": "1.1.0"}`, "node_modules/left": "-> .pnpm/left@1.1.0/node_modules/left",
				"node_modules/.bin/left": "#!/bin/sh\nbasedir=$(dirname \"$(echo \"$0\" | sed -e 's,\\\\,/,g')\")\n\ncase `uname` in\n    *CYGWIN*|*MINGW*|*MSYS*)\n        if command -v cygpath > /dev/null 2>&1; then\n            basedir=`cygpath -w \"$basedir\"`\n        fi\n    ;;\nesac\n\nif [ -z \"$NODE_PATH\" ]; then\n  export NODE_PATH=\"/x/node_modules\"\nelse\n  export NODE_PATH=\"/x:$NODE_PATH\"\nfi\nif [ -x \"$basedir/node\" ]; then\n  exec \"$basedir/node\"  \"$basedir/../left/cli.js\" \"$@\"\nelse\n  exec node  \"$basedir/../left/cli.js\" \"$@\"\nfi\n"},
			declaring("pnpm-lock.yaml", "  left@1.0.0:\n", "  left@1.1.0:\n"), nil,
			[]string{"dependency_removed node_modules/.pnpm/left@1.0.0/node_modules/left", "dependency_installed node_modules/.pnpm/left@1.1.0/node_modules/left"}},

		{"a script that looks like pnpm's", node, with(node, map[string]string{"node_modules/.bin/left": "#!/bin/sh\nbasedir=x\nif true; then echo ok; exit 0; fi\nexec node \"$basedir/../left/cli.js\" \"$@\"\n"}), nil, nil, []string{"dependency_planted node_modules/.bin/left"}},

		{"a new environment", nil, with(venv, distribution("setuptools", "70.0", map[string]string{"distutils-precedence.pth": "import os; x"})), pyproject, nil,
			[]string{"dependency_installed " + site + "pytest-8.0.dist-info", "dependency_installed " + site + "setuptools-70.0.dist-info"}},
		{"an edited distribution", venv, with(venv, map[string]string{site + "pytest/__init__.py": "run = 2"}), pyproject, nil, []string{"dependency_edited " + site + "pytest/__init__.py"}},
		{"an edited command", venv, with(venv, map[string]string{".venv/bin/pytest": "#!/bin/sh\nexit 0"}), pyproject, nil, []string{"dependency_edited .venv/bin/pytest"}},
		{"a file in a distribution", venv, with(venv, map[string]string{site + "pytest/more.py": "1"}), pyproject, nil, []string{"dependency_planted " + site + "pytest/more.py"}},
		{"data in a distribution", venv, with(venv, map[string]string{site + "pytest/data.txt": "1"}), pyproject, nil, nil},
		{"runs in every Python", venv, with(venv, map[string]string{site + "sitecustomize.py": "1"}), pyproject, nil, []string{"dependency_planted " + site + "sitecustomize.py"}},
		{"a path that runs", venv, with(venv, map[string]string{site + "x.pth": "import quiet\n"}), pyproject, nil, []string{"dependency_planted " + site + "x.pth"}},
		{"a path of the tree", venv, with(venv, map[string]string{site + "easy-install.pth": "/project/src\n", site + "calc.egg-link": "/project/src\n.\n"}), pyproject, nil, nil},
		{"a path elsewhere", venv, with(venv, map[string]string{site + "x.pth": "/tmp/fake\n"}), pyproject, nil, []string{"dependency_planted " + site + "x.pth"}},
		{"another interpreter", venv, with(venv, map[string]string{".venv/bin/python": "#!/bin/sh\necho OK"}), pyproject, nil, []string{"dependency_planted .venv/bin/python"}},
		{"the interpreter renewed", venv, with(venv, map[string]string{".venv/bin/python": "-> /usr/bin/python3.13", ".venv/pyvenv.cfg": "home = /opt"}), pyproject, nil, nil},
		{"a plugin that nobody asks for", venv, with(venv, plugin), pyproject, nil, []string{"dependency_planted " + site + "pytest_quiet-1.dist-info"}},
		{"a plugin that the project asks for", venv, with(venv, plugin), map[string]Text{"requirements-dev.txt": {"", "pytest-quiet==1\n"}}, nil, []string{"dependency_installed " + site + "pytest_quiet-1.dist-info"}},
		{"installed in place", venv, with(venv, distribution("calc", "0.1", map[string]string{"__editable__.calc-0.1.pth": "/project/src\n", "__editable___calc_0_1_finder.py": "1"}),
			map[string]string{site + "__editable___calc_0_1_finder.py": "2"}), pyproject, nil, []string{"dependency_installed " + site + "calc-0.1.dist-info"}},
		{"not what its record says", venv, with(venv, distribution("six", "1.0", map[string]string{"six.py": "1"}), map[string]string{site + "six.py": "2"}), pyproject, nil,
			[]string{"dependency_edited " + site + "six.py", "dependency_installed " + site + "six-1.0.dist-info"}},
		{"required by what the project asks for", venv, with(venv, distribution("pytest", "8.0", map[string]string{"pytest/__init__.py": "run = 1", "../../../bin/pytest": "#!py\nrun", "pytest-8.0.dist-info/METADATA": "Requires-Dist: pytest-quiet>=1\n"}), plugin), pyproject, nil, []string{"dependency_installed " + site + "pytest_quiet-1.dist-info"}},
		{"required by an extra that nobody asks for", venv, with(venv, distribution("pytest", "8.0", map[string]string{"pytest/__init__.py": "run = 1", "../../../bin/pytest": "#!py\nrun", "pytest-8.0.dist-info/METADATA": "Requires-Dist: pytest-quiet; extra == 'dev'\n"}), plugin), pyproject, nil, []string{"dependency_planted " + site + "pytest_quiet-1.dist-info"}},
		{"used and not declared", venv, with(venv, distribution("subtract", "1.0", map[string]string{"subtract/__init__.py": "1"})), pyproject, map[string]string{"calc.py": "from subtract import sub\n"},
			[]string{"dependency_planted " + site + "subtract-1.0.dist-info"}},
		{"another version", venv, with(venv, map[string]string{site + "pytest-8.0.dist-info/RECORD": "gone", site + "pytest-8.0.dist-info/METADATA": "gone"},
			distribution("pytest", "8.1", map[string]string{"pytest/__init__.py": "run = 3", "../../../bin/pytest": "#!py\nrun 3"})), pyproject, nil, []string{"dependency_installed " + site + "pytest-8.1.dist-info"}},
		{"elsewhere", map[string]string{"/py/site-packages/a-1.dist-info/RECORD": ""}, map[string]string{"/py/site-packages/a-1.dist-info/RECORD": "", "/py/site-packages/sitecustomize.py": "1", "/py/site-packages/b-1.dist-info/RECORD": ""}, pyproject, nil,
			[]string{"dependency_planted /py/site-packages/sitecustomize.py", "dependency_installed /py/site-packages/b-1.dist-info"}},

		{"a library of PHP", php, with(php, map[string]string{"vendor/phpunit/phpunit/src/x.php": "2"}), nil, nil, []string{"dependency_edited vendor/phpunit/phpunit/src/x.php"}},
		{"a command of PHP", php, with(php, map[string]string{"vendor/bin/phpunit": "#!/bin/sh\nexit 0"}), nil, nil, []string{"dependency_edited vendor/bin/phpunit"}},
		{"the list of classes", php, with(php, map[string]string{"vendor/autoload.php": "2", "vendor/composer/autoload_classmap.php": "2"}), nil, nil, nil},
		{"with its lock", php, with(php, map[string]string{"vendor/phpunit/phpunit/src/x.php": "2", "vendor/a/b/c.php": "1"}), map[string]Text{"composer.lock": {"a", "b"}}, nil,
			[]string{"dependency_installed vendor/a/b", "dependency_installed vendor/phpunit/phpunit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.declares
			if d == nil {
				d = declares
			}
			found := Compare(Request{Root: "/project", Before: stateOf(c.before), After: stateOf(c.after), Declares: d, Changed: c.changed,
				Read:   func(p string) []byte { return []byte(c.after[p]) },
				OnPath: func(name string) bool { return name == "node" || name == "python" }})
			var got []string
			for _, f := range found {
				got = append(got, f.Kind+" "+f.Path)
				if f.Grave != (f.Kind == Edited || f.Kind == Planted) {
					t.Errorf("%+v", f)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q\n%+v", got, c.want, found)
			}
		})
	}
}

func TestEncode(t *testing.T) {
	s := stateOf(map[string]string{"node_modules/a\tb\n/x": "1", "node_modules/l": "-> ../x y", "node_modules/p/package.json": `{"version": "1"}`, ".venv/x": "#!"})
	s.Tree = "abc"
	for p, f := range s.Files {
		f.Written, f.Changed, f.Inode = 1, -2, 1<<63
		s.Files[p] = f
	}
	got, ok := Decode(s.Encode())
	if !ok || got.Tree != s.Tree || !maps.Equal(got.Files, s.Files) || !maps.Equal(got.Roots, s.Roots) {
		t.Errorf("%v %+v, want %+v", ok, got, s)
	}
	if empty, ok := Decode(NewState().Encode()); !ok || len(empty.Files)+len(empty.Roots) != 0 {
		t.Errorf("nothing became %v %+v", ok, empty)
	}
	data := s.Encode()
	for i := range data {
		if _, ok := Decode(data[:i]); ok {
			t.Errorf("cut at %d it was taken", i)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(stateOf(map[string]string{"node_modules/a": "1"}).Encode())
	f.Fuzz(func(t *testing.T, data []byte) { Decode(data) })
}
