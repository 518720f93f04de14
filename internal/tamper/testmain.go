package tamper

import (
	"slices"
	"strings"
)

// testMain finds a new or changed TestMain that may end well without running the tests, and what prints results by itself.
func (c *comparison) testMain(f pair) {
	p := f.after
	had := map[string]bool{}
	if f.before != nil {
		for _, u := range f.before.units {
			had[u.exact] = true
		}
	}
	for _, u := range p.units[1:] {
		if had[u.exact] && u.exact != "" {
			continue
		}
		if u.name == "TestMain" && p.is(u.from, "func") && !c.runsTests(p, u, 0) {
			c.found(Finding{Kind: Exits, Path: f.path, Test: u.name, Line: u.line, After: "TestMain may end without running the tests", Grave: true})
		}
	}
	was := 0
	if f.before != nil {
		was = len(f.before.forges())
	}
	if list := p.forges(); len(list) > was {
		t := p.toks[list[len(list)-1]]
		c.found(Finding{Kind: Exits, Path: f.path, Test: p.unitAt(list[len(list)-1]).name, Line: t.line, After: short("\"" + t.text + "\""), Grave: true})
	}
}

// forges are the texts that a file prints and that a runner would: in what runs before and after tests, and anywhere with the
// mark by which a runner knows its own lines.
func (p *parsed) forges() []int {
	var out []int
	for i, t := range p.toks {
		if t.kind != text {
			continue
		}
		result := strings.Contains(t.text, "--- PASS") || strings.Contains(t.text, "=== RUN")
		marked := result && (strings.Contains(t.text, `\x16`) || strings.Contains(t.text, `\u0016`) || strings.Contains(t.text, `\026`) || strings.Contains(t.text, "\x16"))
		u := p.unitAt(i)
		prints := p.is(p.within[i], "(") && p.within[i] > 0 && strings.Contains(strings.ToLower(p.toks[p.within[i]-1].text), "print")
		if marked && prints || result && (u.name == "TestMain" || u.name == "init") {
			out = append(out, i)
		}
	}
	return out
}

// runsTests reports whether a function that is given all tests runs them whatever holds, or hands them on to one that does.
func (c *comparison) runsTests(p *parsed, u *unit, depth int) bool {
	m := ""
	for i := u.from; i < u.body; i++ {
		if p.is(i, "*") && p.is(i+1, "testing") && p.is(i+3, "M") && p.isKind(i-1, ident) {
			m = p.toks[i-1].text
		}
	}
	if m == "" || depth > 3 {
		return false
	}
	for i := u.body; i < u.to; i++ {
		if p.is(i, "return") && p.leaves(i, u) {
			return false
		}
		if !p.is(i, m) || p.is(i-1, ".") {
			continue
		}
		called := p.is(i+1, ".") && p.is(i+2, "Run") && p.is(i+3, "(")
		given := p.is(p.within[i], "(") && p.isKind(p.within[i]-1, ident) && !slices.Contains([]string{"Print", "Println", "Printf", "Sprint", "Sprintf", "len"}, p.toks[p.within[i]-1].text)
		if !called && !given || !p.always(i, u) {
			continue
		}
		if called {
			return true
		}
		name := p.toks[p.within[i]-1].text
		at := slices.IndexFunc(p.units, func(o *unit) bool { return o.name == name && o != u })
		if at < 0 || p.is(p.within[i]-2, ".") {
			return true // of a library
		}
		return c.runsTests(p, p.units[at], depth+1)
	}
	return false
}

// asksHelper reports whether a condition asks whether the program was started for something else than its tests.
func (p *parsed) asksHelper(from, to int) bool {
	return p.near(from, to, "Getenv", "LookupEnv", "Args", "NArg", "Arg", "Init")
}

// leaves reports whether a return before the tests ends a function where nothing asks for another use of the program.
func (p *parsed) leaves(i int, u *unit) bool {
	if !p.is(i+1, "}") && !p.is(i+1, ";") && p.toks[min(i+1, len(p.toks)-1)].line == p.toks[i].line {
		return false // it returns something
	}
	for at := p.within[i]; at > u.body; at = p.within[at] {
		from, word := p.header(at)
		if word == "func" || word == "if" && p.asksHelper(from, at) || word == "switch" && p.asksHelper(from, at) || word == "else" {
			return false
		}
	}
	return p.within[i] > u.body
}

// always reports whether a token is met whenever its function runs, but for other uses of the program.
func (p *parsed) always(i int, u *unit) bool {
	for at := p.within[i]; at > u.body; at = p.within[at] {
		if !p.is(at, "{") {
			continue
		}
		from, word := p.header(at)
		switch word {
		case "func":
			name := ""
			if p.is(from-2, ":=") || p.is(from-2, "=") {
				name = p.toks[from-3].text
			}
			if name != "" && !p.is(p.close(at), "(") && !slices.ContainsFunc(p.calls(u, name), func(n int) bool { return n > at && p.always(n, u) }) {
				return false
			}
		case "if":
			empty := slices.ContainsFunc(p.toks[from:at], func(t token) bool { return t.kind == text && t.text == "" || t.text == "!" })
			if !p.asksHelper(from, at) || !empty || p.near(from, at, "true") || slices.ContainsFunc(p.toks[from:at], func(t token) bool { return t.text == "!=" }) {
				return false
			}
		case "else":
			before, ok := p.pairs[at-2]
			if !ok || !p.is(at-2, "}") {
				return false
			}
			if from, word = p.header(before); word != "if" || !p.asksHelper(from, before) {
				return false
			}
		case "switch":
			label := i
			for label > at && !p.is(label, "case") && !p.is(label, "default") {
				label--
			}
			if !p.asksHelper(from, at) || !p.is(label, "default") && !(p.isKind(label+1, text) && p.toks[label+1].text == "") {
				return false
			}
		default:
			if word != "" {
				return false
			}
		}
	}
	return true
}

// calls are the tokens of a function at which it calls another by its name.
func (p *parsed) calls(u *unit, name string) []int {
	var out []int
	for i := u.body; i < u.to; i++ {
		if p.is(i, name) && p.is(i+1, "(") {
			out = append(out, i)
		}
	}
	return out
}
