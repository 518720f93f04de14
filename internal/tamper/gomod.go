package tamper

import (
	"path"
	"slices"
	"strings"
)

// goModule finds new replacements of modules that tests import: of a library that runs tests or asserts, and of another that
// was required before and that stands in the project now.
func (c *comparison) goModule(f File) {
	was, now := replacements(f.Before), replacements(f.After)
	for _, name := range sorted(now) {
		to := now[name]
		if was[name] == to {
			continue
		}
		local := strings.HasPrefix(to, ".") || strings.HasPrefix(to, "/")
		known := strings.Contains(name, "/") && isTestLibrary(name) || strings.HasPrefix(name, "gotest.tools")
		if known || local && strings.Contains(string(f.Before), name+" ") && c.testsImport(name) {
			c.found(Finding{Kind: Patched, Path: f.Path, Before: was[name], After: short("replace " + name + " => " + to), Grave: true})
		}
	}
}

// replacements are what a go.mod or go.work replaces, by module.
func replacements(text []byte) map[string]string {
	out := map[string]string{}
	block := false
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(strings.NewReplacer("(", " ( ", "\"", "", "`", "").Replace(line))
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = false
		case len(words) > 1 && words[1] == "(":
			block = words[0] == "replace"
			continue
		case words[0] == "replace":
			words = words[1:]
		case !block:
			continue
		}
		if at := slices.Index(words, "=>"); at > 0 && at+1 < len(words) {
			out[words[0]] = strings.Join(words[at+1:], " ")
		}
	}
	return out
}

// testsImport reports whether a changed test imports a module, or a package of it.
func (c *comparison) testsImport(name string) bool {
	return slices.ContainsFunc(c.test, func(f pair) bool {
		return f.after != nil && slices.ContainsFunc(f.after.toks, func(t token) bool {
			return t.kind == text && (t.text == name || strings.HasPrefix(t.text, name+"/"))
		})
	})
}

// vendored finds libraries that run tests or assert and that were edited where the project keeps them, without another
// version of anything.
func (c *comparison) vendored(f File) {
	_, name, ok := strings.Cut("/"+f.Path, "/vendor/")
	if !ok || !strings.Contains(name, "/") || path.Ext(name) != ".go" || !isTestLibrary(path.Dir(name)) {
		return
	}
	if !slices.ContainsFunc(c.Files, func(o File) bool { return path.Base(o.Path) == "modules.txt" }) {
		line, a, b := firstDifference(f.Before, f.After)
		c.found(Finding{Kind: Patched, Path: f.Path, Line: line, Before: a, After: b, Grave: true})
	}
}
