package tamper

import (
	"slices"
	"strings"
)

// assertNames are what assertions are called, in the languages that let a program replace them.
var assertNames = []string{"assertEqual", "assertTrue", "assertFalse", "assertRaises", "assertIn", "equal", "strictEqual", "deepEqual", "deepStrictEqual", "ok", "throws", "toBe", "toEqual", "toStrictEqual", "failureException", "AssertionError", "is"}

// patches finds what replaces what asserts.
func (c *comparison) patches(f pair) {
	if f.after == nil {
		return
	}
	count := func(p *parsed) (n, line int, says string) {
		if p == nil {
			return 0, 0, ""
		}
		list := append(p.replaced(), p.written(classOf(f.path) == source)...)
		if len(list) == 0 {
			return 0, 0, ""
		}
		return len(list), list[len(list)-1].line, list[len(list)-1].says
	}
	had, _, _ := count(f.before)
	if n, line, says := count(f.after); n > had {
		c.found(Finding{Kind: Patched, Path: f.path, Line: line, After: says, Grave: true})
	}
}

// replaced finds assignments to a name of what asserts, and matchers that take the place of others.
func (p *parsed) replaced() (out []mark) {
	lib := p.asserters()
	for i, t := range p.toks {
		switch {
		case t.kind != ident:
		case p.is(i-1, ".") && p.is(i+1, "=") && slices.Contains(assertNames, t.text):
			switch on := p.toks[max(0, i-2)].text; {
			case on == ")" && p.loads(i-2, "assert"):
				out = append(out, mark{says: shown(p.toks[max(0, i-5):min(len(p.toks), i+6)]), line: t.line})
			case on == "assert" && p.names["assert"] == 0, on == "TestCase", on == "Object" && t.text == "is", on == "builtins", on == "unittest", on == "case", on == "prototype" && strings.HasPrefix(t.text, "to"), p.asserter(i-2, lib) > 0:
				out = append(out, mark{says: shown(p.toks[max(0, i-4):min(len(p.toks), i+6)]), line: t.line})
			}
		case t.text == "extend" && p.is(i-2, "expect") && p.is(i+1, "("):
			for at := i + 2; at < p.close(i+1); at++ {
				if name := p.toks[at].text; (p.is(at+1, "(") || p.is(at+1, ":")) && (name == "toBe" || name == "toEqual" || name == "toStrictEqual" || name == "toThrow" || name == "toContain") {
					out = append(out, mark{says: "expect.extend({" + name, line: t.line})
				}
			}
		}
	}
	return out
}

// setters are functions that write to their first argument, by what they are called on; "": on anything, or on nothing.
var setters = map[string]string{"assign": "Object", "defineProperty": "", "defineProperties": "", "setPrototypeOf": "", "set": "Reflect", "setattr": "", "__setattr__": ""}

// mockers are those that tests use for what they may replace. Code that is handed over replaces nothing that asserts.
var mockers = []string{"method", "spyOn", "stub", "replace", "object"}

// written finds other ways to write to what asserts: by an index, and by functions. Tests may add names to it, and code that
// is handed over may, too; where nobody sees which names it writes, code that is handed over is not believed.
func (p *parsed) written(production bool) (out []mark) {
	if p.l.name != "script" && p.l.name != "python" {
		return nil
	}
	lib := p.asserters()
	for i, t := range p.toks {
		put := func(from int) {
			out = append(out, mark{says: shown(p.toks[max(0, from):min(len(p.toks), i+8)]), line: t.line})
		}
		open, indexed := p.pairs[i]
		on, is := setters[t.text]
		switch {
		case indexed && p.is(i, "]") && p.is(i+1, "=") && open < i-1: // assert['equal'] =
			if sure := p.asserter(open-1, lib); sure > 0 && p.writes([2]int{open + 1, i}, production && sure > 1) {
				put(open - 1)
			}
		case t.kind == text && p.l.name == "python" && strings.HasPrefix(t.text, "unittest.") && p.is(i-1, "(") && p.near(i-2, i, "patch", "setattr"): // by its path
			if slices.Contains(assertNames, t.text[strings.LastIndexByte(t.text, '.')+1:]) {
				put(i - 2)
			}
		case t.kind != ident || !p.is(i+1, "("):
		case is && (on == "" || p.is(i-1, ".") && p.is(i-2, on)), production && p.is(i-1, ".") && slices.Contains(mockers, t.text):
			args := p.arguments(i + 1)
			if len(args) < 2 {
				continue
			}
			if sure := p.whole(args[0], lib); sure > 0 && p.writes(args[1], production && sure > 1) {
				put(i - 2)
			}
		}
	}
	return out
}

// writes reports whether an argument names an assertion: as a text, or as keys of an object.
func (p *parsed) writes(a [2]int, unseen bool) bool {
	if a[1] == a[0]+1 && p.isKind(a[0], text) {
		return slices.Contains(assertNames, p.toks[a[0]].text)
	}
	if !p.is(a[0], "{") {
		return unseen // which names it writes
	}
	for i := a[0] + 1; i < a[1]; i++ {
		if p.within[i] == a[0] && (p.is(i, "...") || slices.Contains(assertNames, p.toks[i].text) && !p.is(i-1, ".")) {
			return true
		}
	}
	return false
}

// asserters are the names of a file for libraries that run tests or assert. 2: it imports them so, 1: they are called so.
func (p *parsed) asserters() map[string]int {
	lib := map[string]int{"TestCase": 1}
	if p.names["assert"] == 0 { // no function of its own
		lib["assert"] = 1
	}
	for name, from := range p.imported() {
		if isTestLibrary(from.module) && !strings.Contains(from.module, "mock") && name != "mock" {
			lib[name] = 2
		}
	}
	for i := range p.toks {
		if !p.isKind(i, ident) || p.is(i-1, ".") || !p.is(i+1, "=") || !p.isKind(i+2, ident) {
			continue
		}
		end := i + 2
		for p.is(end+1, ".") && p.isKind(end+2, ident) {
			end += 2
		}
		if sure := p.asserter(end, lib); sure > 0 && !p.is(end+1, "(") && !p.is(end+1, "[") { // const a = assert.strict
			lib[p.toks[i].text] = sure
		}
	}
	return lib
}

// asserter says how sure it is that a chain of names that ends at a token begins with one of a library that asserts, or ends
// with the class of Python's tests. 0: it does not.
func (p *parsed) asserter(i int, lib map[string]int) int {
	class := p.is(i, "TestCase")
	for p.isKind(i, ident) && p.is(i-1, ".") {
		if p.is(i, "mock") {
			return 0
		}
		i -= 2
	}
	switch open := p.pairs[i]; {
	case p.is(i, ")") && (p.is(open-1, "require") || p.is(open-1, "import")) && p.isKind(open+1, text) && isTestLibrary(p.toks[open+1].text):
		return 2
	case p.isKind(i, ident) && lib[p.toks[i].text] > 0:
		return lib[p.toks[i].text]
	case class:
		return 1
	}
	return 0
}

// whole is what asserter says of an argument that is nothing but such a chain.
func (p *parsed) whole(a [2]int, lib map[string]int) int {
	for i := a[0]; i < a[1]; i++ {
		if end, ok := p.pairs[i]; ok && end > i {
			i = end
		} else if !p.isKind(i, ident) && !p.is(i, ".") {
			return 0
		}
	}
	return p.asserter(a[1]-1, lib)
}

// loads reports whether the parentheses that close at a token are of a require of a module with a word in its name.
func (p *parsed) loads(close int, word string) bool {
	open, ok := p.pairs[close]
	return ok && p.is(open-1, "require") && p.isKind(open+1, text) && strings.Contains(p.toks[open+1].text, word)
}
