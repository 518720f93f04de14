package tamper

import (
	"slices"
	"strings"
)

// helperWent reports whether a unit is a plain function beside tests that is gone because nobody calls it any more, or
// because those who do find it elsewhere, in a file that is as it was. What a test loses by that is found in the test: the
// call was one of its assertions.
func (c *comparison) helperWent(u *unit, p *parsed, after *side) bool {
	if u.test || u.name == "" || p == nil || p.toks[u.from].col != 0 || strings.Contains(u.name, again) {
		return false
	}
	switch p.l.name {
	case "go":
		if !p.is(u.from, "func") || p.is(u.from+1, "(") { // a method may be what an interface asks for
			return false
		}
	case "python":
		if !p.is(u.from, "def") && !p.is(u.from, "async") { // decorated: somebody else may call it
			return false
		}
	case "script":
		if !p.is(u.from, "function") && !p.is(u.from, "const") {
			return false
		}
	default:
		return false
	}
	for _, hook := range []string{"setup", "teardown", "before", "after", "pytest", "init", "main", "testmain", "load"} {
		if strings.HasPrefix(strings.ToLower(strings.ReplaceAll(u.name, "_", "")), hook) {
			return false
		}
	}
	files := make([]*parsed, 0, len(after.files)+len(c.code))
	for _, f := range after.files {
		files = append(files, f)
	}
	for _, f := range c.code {
		if f.after != nil {
			files = append(files, f.after)
		}
	}
	return !slices.ContainsFunc(files, func(f *parsed) bool { return !f.onlyCalls(u.name) })
}

// onlyCalls reports whether a file has a name in calls alone: whatever else it does with it may give it another meaning.
func (p *parsed) onlyCalls(name string) bool {
	for i, t := range p.toks {
		switch {
		case t.kind == text || t.text != name:
		case !p.is(i+1, "("), p.is(i-1, "def"), p.is(i-1, "func"), p.is(i-1, "function"), p.is(i-1, ")") && p.l.name == "go", p.is(p.close(i+1), "{"):
			return false
		}
	}
	return true
}
