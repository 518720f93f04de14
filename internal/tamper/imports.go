package tamper

import (
	"path"
	"slices"
	"strings"
)

// testLibraries are modules that run tests or assert, as they are imported: also with what follows a slash.
var testLibraries = []string{
	"node:test", "node:assert", "assert", "test", "vitest", "@jest/globals", "jest", "expect", "chai", "mocha", "ava", "tap", "tape", "uvu", "should", "must", "unexpected", "power-assert", "jasmine", "bun:test", "@playwright/test", "qunit",
	"pytest", "unittest", "hamcrest", "nose", "assertpy",
	"testing", "github.com/stretchr/testify", "gotest.tools", "github.com/matryer/is", "github.com/frankban/quicktest", "github.com/onsi/gomega", "github.com/onsi/ginkgo", "github.com/google/go-cmp", "go.uber.org/goleak", "github.com/alecthomas/assert",
}

// isTestLibrary reports whether a module, as a program imports it, runs tests or asserts.
func isTestLibrary(module string) bool {
	return slices.ContainsFunc(testLibraries, func(l string) bool {
		return module == l || strings.HasPrefix(module, l+"/") || strings.HasPrefix(module, l+".") && !strings.Contains(l, "/")
	})
}

// imports finds names of a library that runs tests or asserts and that come from a file of the project now.
func (c *comparison) imports(f pair) {
	if f.before == nil || f.after == nil {
		return
	}
	was, now := f.before.imported(), f.after.imported()
	for _, name := range sorted(now) {
		from, to := was[name], now[name]
		if isTestLibrary(from.module) && from.module != to.module && !isTestLibrary(to.module) && c.ofProject(f.after.l, to.module) {
			c.found(Finding{Kind: Patched, Path: f.path, Line: to.line, Before: short(name + " of " + from.module), After: short(name + " of " + to.module), Grave: true})
		}
	}
}

// ofProject reports whether an imported module is a file of the project, as far as its name tells.
func (c *comparison) ofProject(l *language, module string) bool {
	switch l.name {
	case "script":
		return module == "" || strings.ContainsAny(module[:1], ".#~/") || strings.HasPrefix(module, "@/")
	case "go":
		return strings.Contains(module, "/") // not Go's own
	}
	first, _, _ := strings.Cut(strings.TrimLeft(module, "."), ".")
	return strings.HasPrefix(module, ".") || slices.ContainsFunc(c.Files, func(f File) bool {
		dir, base := path.Split(f.Path)
		return f.After != nil && path.Ext(base) == ".py" && (base == first+".py" || strings.HasPrefix(dir, first+"/") || strings.Contains(dir, "/"+first+"/"))
	})
}

// module is where a name of a file comes from.
type module struct {
	module string
	line   int
}

// imported are the names that a file imports, in its unit without a name.
func (p *parsed) imported() map[string]module {
	out := map[string]module{}
	for i, t := range p.toks {
		switch {
		case p.l.name == "script" && t.kind == text && (p.is(i-1, "(") && (p.is(i-2, "require") || p.is(i-2, "import")) || p.is(i-1, "from")):
			for at := i - 1; at >= 0 && at > i-60 && !p.is(at, ";"); at-- {
				if p.isKind(at, ident) {
					out[p.toks[at].text] = module{t.text, t.line}
				}
				if p.is(at, "import") && !p.is(at+1, "(") || p.is(at, "const") || p.is(at, "let") || p.is(at, "var") {
					break
				}
			}
		case p.l.name == "python" && p.is(i, "import") && (t.lead || p.is(p.lineStart(i), "from")):
			from := ""
			if start := p.lineStart(i); start < i {
				for _, o := range p.toks[start+1 : i] {
					from += o.text
				}
			}
			for at := i + 1; at < len(p.toks) && p.toks[at].kind != newline; at++ {
				if !p.isKind(at, ident) || p.is(at, "as") || p.is(at+1, "as") || p.is(at-1, ".") {
					continue
				}
				name, whole := p.toks[at].text, p.toks[at].text
				if p.is(at-1, "as") {
					whole = p.toks[max(0, at-2)].text
				}
				if from != "" {
					whole = from
				}
				out[name] = module{whole, t.line}
			}
		case p.l.name == "go" && t.kind == text && (p.is(i-1, "import") || p.is(p.within[i]-1, "import") && p.is(p.within[i], "(") || p.isKind(i-1, ident) && p.is(i-2, "import")):
			name := path.Base(t.text)
			if p.isKind(i-1, ident) && p.toks[i-1].line == t.line && !p.is(i-1, "import") {
				name = p.toks[i-1].text
			}
			out[name] = module{t.text, t.line}
		}
	}
	for _, word := range []string{"require", "import", "from", "const", "await", "type"} {
		delete(out, word)
	}
	return out
}
