package installed

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// What a finding is about. Paths that are left as an installation of packages leaves them make no finding, or one of the
// first two kinds.
const (
	Installed = "dependency_installed" // a package came, or has another version
	Removed   = "dependency_removed"   //
	Edited    = "dependency_edited"    // a file of a package is not what was installed
	Planted   = "dependency_planted"   // something that belongs to no package, and is run or found by what runs tests
)

// Finding is one thing that was done.
type Finding struct {
	Kind   string
	Path   string
	Before string // a package with its version
	After  string // the same, or what is wrong
	Grave  bool
}

// Text is a file of the project on both sides. A side without it is "".
type Text struct{ Before, After string }

// Request is one comparison.
type Request struct {
	Root          string // top of the work tree, absolute, with slashes
	Before, After *State
	// Read returns a file in the directories that are compared, as it is now; nil for none.
	Read func(path string) []byte
	// Declares are the manifests and lock files of the project's tree, by path.
	Declares map[string]Text
	// Changed are other files of the tree that have changed while the work was done, as they are now.
	Changed map[string]string
	// Commands are those of gates.
	Commands []string
	// OnPath reports whether a command of a name lies elsewhere, so that one in a dependency directory would come before it.
	OnPath func(name string) bool
}

type comparison struct {
	Request
	out      []Finding
	declared map[string]bool // names of packages that the project asks for, or that those ask for
	asked    string          // what says which packages those are, as text
	locks    string          // the same of locks alone
	altered  string          // what of it has changed, with a few lines before
	scripts  string          // commands of gates, and of manifests
	names    map[string]bool // of distributions that are asked for, and whether with their extras
}

// Compare says what was done to installed packages between two states.
func Compare(r Request) []Finding {
	paths := r.Before.Differ(r.After)
	if len(paths) == 0 {
		return nil
	}
	c := &comparison{Request: r, names: map[string]bool{}}
	c.readDeclared()
	var node, python, vendor []string
	for _, p := range paths {
		switch c.kindOf(p) {
		case Node:
			node = append(node, p)
		case Python, Site:
			python = append(python, p)
		case Vendor:
			vendor = append(vendor, p)
		}
	}
	c.node(node)
	c.python(python)
	c.vendor(vendor)
	slices.SortStableFunc(c.out, func(a, b Finding) int {
		if a.Grave != b.Grave {
			if a.Grave {
				return -1
			}
			return 1
		}
		if unasked := strings.HasSuffix(a.After, unaskedFor); unasked != strings.HasSuffix(b.After, unaskedFor) {
			if unasked {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
	return fewer(slices.Compact(c.out))
}

// maxTold is how many packages are named that came and went, of one kind.
const maxTold = 10

// fewer leaves out most of a long list of packages.
func fewer(list []Finding) []Finding {
	counts := map[string]int{}
	for _, f := range list {
		counts[f.Kind]++
	}
	named, left := map[string]int{}, map[string]int{}
	var out []Finding
	for _, f := range list {
		if counts[f.Kind] > maxTold && !f.Grave {
			if named[f.Kind]++; named[f.Kind] > maxTold {
				left[f.Kind]++
				continue
			}
		}
		out = append(out, f)
	}
	for i := len(out) - 1; i >= 0; i-- {
		if n := left[out[i].Kind]; n > 0 && !out[i].Grave {
			out[i].After += fmt.Sprintf(", and %d more", n)
			left[out[i].Kind] = 0
		}
	}
	return out
}

// unaskedFor ends what is said of a package that came by itself.
const unaskedFor = ", which no manifest asks for"

func (c *comparison) found(kind, path, before, after string) {
	c.out = append(c.out, Finding{Kind: kind, Path: path, Before: before, After: after, Grave: kind != Installed && kind != Removed})
}

// rootOf is the directory of a state in which a path lies.
func (c *comparison) rootOf(p string) (string, Kind) {
	for d := p; d != "." && d != "/"; d = path.Dir(d) {
		if k, ok := c.After.Roots[d]; ok {
			return d, k
		}
		if k, ok := c.Before.Roots[d]; ok {
			return d, k
		}
	}
	return "", ""
}

func (c *comparison) kindOf(p string) Kind {
	_, k := c.rootOf(p)
	return k
}

// isLock tells files that say which version of a package is installed from those that only ask for it.
func isLock(p string) bool {
	base := path.Base(p)
	return strings.HasSuffix(base, ".lock") || strings.HasPrefix(base, "package-lock") || base == "npm-shrinkwrap.json" || base == "pnpm-lock.yaml" || base == "go.sum"
}

// Declares reports whether a file of a project says which packages it needs.
func Declares(p string) bool {
	base := path.Base(p)
	switch base {
	case "package.json", "npm-shrinkwrap.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "pnpm-workspace.yaml", "pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "Pipfile", "Pipfile.lock",
		"poetry.lock", "uv.lock", "pdm.lock", "environment.yml", "environment.yaml", "composer.json", "composer.lock", "Gemfile", "Gemfile.lock", "go.mod", "go.sum":
		return true
	}
	if strings.HasSuffix(base, ".txt") || strings.HasSuffix(base, ".in") {
		return strings.Contains(base, "requirements") || strings.Contains(base, "constraints") || path.Base(path.Dir(p)) == "requirements"
	}
	return false
}

// Patches reports whether a file of a project is one that changes an installed package.
func Patches(p string) bool {
	return strings.HasSuffix(p, ".patch") || strings.HasSuffix(p, ".diff")
}

func (c *comparison) readDeclared() {
	var asked, locks, altered, scripts strings.Builder
	for _, p := range sortedKeys(c.Declares) {
		t := c.Declares[p]
		asked.WriteString(t.After + "\n")
		if isLock(p) {
			locks.WriteString(t.After + "\n")
		}
		if Patches(p) {
			altered.WriteString(p + "\n")
		}
		if t.Before != t.After {
			altered.WriteString(alteredLines(t.Before, t.After))
		}
		if path.Base(p) == "package.json" {
			scripts.WriteString(scriptsOf(t.After) + "\n")
		}
	}
	for _, cmd := range c.Commands {
		scripts.WriteString(cmd + "\n")
	}
	c.asked, c.locks, c.altered, c.scripts = asked.String(), locks.String(), altered.String(), scripts.String()
	c.declare()
}

func sortedKeys[V any](m map[string]V) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// contextLines stand between the name of a package in a lock file and what is said of it.
const contextLines = 8

// alteredLines are the lines that one text has and the other has not, with those before them that may name a package.
func alteredLines(before, after string) string {
	var b strings.Builder
	one := func(text, other string) {
		has := map[string]bool{}
		for line := range strings.Lines(other) {
			has[line] = true
		}
		lines := strings.Split(text, "\n")
		last := -1
		for i, line := range lines {
			if has[line+"\n"] || has[line] {
				continue
			}
			for n := max(last+1, i-contextLines); n <= i; n++ {
				b.WriteString(lines[n] + "\n")
			}
			last = i
		}
	}
	one(before, after)
	one(after, before)
	return b.String()
}

// mentions reports whether a text has a name as a word of its own.
func mentions(text, name string) bool { return wordAt(text, name) >= 0 }

func wordAt(text, name string) int {
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return -1
		}
		i += from
		if end := i + len(name); (i == 0 || !inName(text[i-1])) && (end == len(text) || !inName(text[end])) {
			return i
		}
		from = i + 1
	}
	return -1
}

func inName(c byte) bool {
	return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// pinned reports whether the locks say that a package has a version.
func (c *comparison) pinned(name, version string) bool {
	for text := c.locks; ; {
		i := wordAt(text, name)
		if i < 0 {
			return false
		}
		text = text[i+len(name):]
		lines := strings.SplitN(text, "\n", contextLines+1)
		if mentions(strings.Join(lines[:min(len(lines), contextLines)], "\n"), version) {
			return true
		}
	}
}

// imports finds what code of Python and JavaScript takes from packages.
var imports = regexp.MustCompile(`(?m)(?:^\s*(?:from|import)\s+([A-Za-z_]\w*))|(?:(?:require\(|import\(|\bfrom|\bimport)\s*['"]([^'"\n]+)['"])`)

// usedBy is a changed file of the tree that takes something from a package by one of these names, "" for none.
func (c *comparison) usedBy(names ...string) string {
	for _, p := range sortedKeys(c.Changed) {
		for _, m := range imports.FindAllStringSubmatch(c.Changed[p], -1) {
			what := cmp.Or(m[1], m[2])
			if slices.ContainsFunc(names, func(n string) bool {
				return what == n || strings.HasPrefix(what, n+"/") || strings.HasPrefix(what, n+".")
			}) {
				return p
			}
		}
	}
	return ""
}

// shadows reports whether a command would be run in place of another one, or by what gates and manifests run.
func (c *comparison) shadows(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".cmd"), ".exe")
	return mentions(c.scripts, name) || c.OnPath != nil && c.OnPath(name)
}

// isCode reports whether a file is run, or read for what to do.
func isCode(p string, f File) bool {
	switch path.Ext(p) {
	case ".js", ".cjs", ".mjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".json", ".node", ".wasm", ".py", ".pyc", ".pyd", ".so", ".dylib", ".dll", ".pth", ".sh", ".php", ".phar", ".rb", ".go", ".s":
		return !strings.HasSuffix(p, ".d.ts") && !strings.HasSuffix(p, ".tsbuildinfo")
	}
	return f.Run || f.Link != ""
}

// vendor compares what composer, Go and bundler install. Which files belong to which package only their lock files tell.
func (c *comparison) vendor(paths []string) {
	told, before := map[string]bool{}, map[string]bool{} // by package
	for _, p := range paths {
		root, _ := c.rootOf(p)
		f, ok := c.After.Files[p]
		parts := strings.Split(strings.TrimPrefix(p, root+"/"), "/")
		if !ok || !isCode(p, f) || parts[0] == "composer" || p == root+"/autoload.php" || slices.Contains(parts, "extensions") || slices.Contains(parts, "cache") {
			continue
		}
		name, at := strings.Join(parts[:min(len(parts), 2)], "/"), root+"/"+strings.Join(parts[:min(len(parts), 2)], "/")
		if i := slices.Index(parts, "gems"); i >= 0 && i+1 < len(parts) {
			name, at = parts[i+1], root+"/"+strings.Join(parts[:i+2], "/")
		}
		had, known := before[at]
		if !known {
			for old := range c.Before.Files {
				had = had || strings.HasPrefix(old, at+"/") || old == at
			}
			before[at] = had
		}
		switch {
		case c.altered != "" && !(parts[0] == "bin" && f.Link == "" && c.shadows(parts[len(parts)-1])), !had && parts[0] != "bin":
			if !told[at] {
				c.found(Installed, at, "", name)
			}
		case parts[0] == "bin" && f.Link != "" && strings.HasPrefix(path.Join(path.Dir(p), f.Link), root+"/"):
			continue
		case !told[at] && parts[0] == "bin" && !had:
			c.found(Planted, p, "", "no lock file has changed")
		case !told[at]:
			c.found(Edited, p, name, "not what was installed, and no lock file has changed")
		}
		told[at] = true
	}
}
