package gitstate

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/session"
)

// maxSaying bounds files that say where modules are, in bytes.
const maxSaying = 1 << 20

// saysWhere reports whether a file in a dependency directory is of a kind that says where modules are found, by
// absolute paths: those of pnpm.
func saysWhere(rel string) bool {
	return path.Base(path.Dir(rel)) == ".bin" || path.Base(rel) == ".modules.yaml"
}

// leadsPython reports whether a file tells Python where modules are: see site, and setuptools' editable installs.
func leadsPython(base string) bool {
	return strings.HasSuffix(base, ".pth") || strings.HasSuffix(base, ".egg-link") ||
		strings.HasPrefix(base, "__editable__") && strings.HasSuffix(base, ".py")
}

// manifests are files of a project that say where its modules are.
var manifests = map[string]bool{
	"go.mod": true, "go.work": true, "package.json": true, "pyproject.toml": true, "setup.cfg": true, "tox.ini": true, "pytest.ini": true,
	"requirements.txt": true, "Cargo.toml": true, "composer.json": true, "Gemfile": true, "tsconfig.json": true, "pnpm-workspace.yaml": true,
}

// waysOut finds what leads out of the room to files of the project.
func (b *bringer) waysOut() {
	for _, name := range slices.Sorted(maps.Keys(b.had)) {
		f := b.had[name]
		switch {
		case f.leads && f.loose:
			b.found(name, filepath.Join(b.real, filepath.FromSlash(name)))
		case f.leads:
			b.found(name, b.real)
		case f.own.mode&fs.ModeSymlink != 0:
			if to := b.leaves(b.at(name)); to != "" {
				b.found(name, to)
			}
		case path.Base(name) == "site-packages":
			b.lookPython(b.at(name))
		}
	}
	for name := range b.tree.files {
		if manifests[path.Base(name)] {
			if text, err := readSome(b.at(name)); err == nil && b.clean.Names(text) {
				b.found(name, b.real)
			}
		}
	}
}

func (b *bringer) found(rel, to string) {
	if b.clean.LeadsBack == nil {
		b.clean.LeadsBack = &session.LeadsBack{Path: rel, To: to}
	}
}

// leaves returns where a path leads to when that is a file of the project outside of the clean tree, else "".
func (b *bringer) leaves(file string) string {
	to, err := filepath.EvalSymlinks(file)
	if err != nil || inside(to, b.clean.Root) {
		return ""
	}
	if inside(to, b.real) && !inside(to, b.repo.commonDir) {
		return to
	}
	for _, other := range b.others {
		if inside(to, other) && !b.dependency(to, other) {
			return to
		}
	}
	return ""
}

// dependency reports whether a path of another work tree is in a directory that packages are installed into.
func (b *bringer) dependency(to, top string) bool {
	for d := to; d != top && inside(d, top); d = filepath.Dir(d) {
		base := filepath.Base(d)
		for _, name := range dependencyDirs {
			if base == name {
				return true
			}
		}
		if _, err := os.Lstat(filepath.Join(d, "pyvenv.cfg")); err == nil {
			return true
		}
	}
	return false
}

// quotedPath is an absolute path in a file of Python's.
var quotedPath = lazyregexp.New(`['"](/[^'"\n]+)['"]`)

// lookPython looks for editable installs that lead elsewhere: to the work tree, or to a copy of the project's own packages.
func (b *bringer) lookPython(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !leadsPython(e.Name()) || e.IsDir() {
			continue
		}
		file := filepath.Join(dir, e.Name())
		text, err := readSome(file)
		if err != nil {
			continue
		}
		for _, to := range pythonPaths(e.Name(), text) {
			out := b.leaves(to)
			if out == "" && !inside(to, b.clean.Root) && b.ours(to) {
				out = to
			}
			if out != "" {
				if rel, err := filepath.Rel(b.clean.Root, file); err == nil && filepath.IsLocal(rel) {
					file = filepath.ToSlash(rel)
				}
				b.found(file, out)
				return
			}
		}
	}
}

// pythonPaths are the absolute paths that a file of a site-packages directory adds to those where modules are looked for.
func pythonPaths(name, text string) []string {
	var list []string
	if strings.HasSuffix(name, ".py") {
		for _, m := range quotedPath.FindAllStringSubmatch(text, -1) {
			list = append(list, filepath.Dir(m[1]))
		}
		return list
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); filepath.IsAbs(line) {
			list = append(list, filepath.Clean(line))
		}
	}
	return list
}

// ours reports whether a directory holds a Python package that the tree has as well, at its top or in src.
func (b *bringer) ours(dir string) bool {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		init := e.Name() + "/__init__.py"
		switch e.Name() {
		case "tests", "test", "docs", "examples", "scripts":
			continue // every project has one
		}
		if e.IsDir() && (b.tree.files[init] || b.tree.files["src/"+init]) {
			return true
		}
	}
	return false
}

func readSome(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSaying))
	return string(data), err
}

// copyFile copies a file into a new one. Where the file system can, the two share what is in them until one is written
// to.
func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// lookOutside finds the editable installs of the work tree in Pythons that lie elsewhere: of the system, of a person, in a
// virtual environment of poetry's or conda's. env is that of the gates.
func (b *bringer) lookOutside(env []string) {
	for _, dir := range pythonDirs(env) {
		if inside(dir, b.repo.root) || inside(dir, b.real) {
			continue
		}
		b.lookPython(dir)
	}
}
