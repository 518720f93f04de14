package tamper

// again finds tests that are declared a second time in their scope, or whose names get another value: Python and Ruby run
// only the last.
func (c *comparison) again(f pair) {
	if f.before == nil || f.after == nil || f.after.l.name != "python" && f.after.l.name != "ruby" {
		return
	}
	was, now := f.before.scoped(), f.after.scoped()
	for _, key := range sorted(now) {
		if list := now[key]; len(was[key]) > 0 && len(list) > len(was[key]) {
			u := list[len(list)-1]
			c.found(Finding{Kind: Patched, Path: f.path, Test: u.name, Line: u.line, After: "it is declared again, and only the last is run", Grave: true})
		}
	}
	if f.after.l.name != "python" {
		return
	}
	names := map[string]bool{}
	for _, u := range f.before.units {
		if u.test {
			names[ownName(u.name)] = true
		}
	}
	for _, name := range f.before.classes() {
		names[name] = true
	}
	had := bag{}
	for _, i := range f.before.replaces(names) {
		had[f.before.toks[i].text]++
	}
	for _, i := range f.after.replaces(names) {
		t := f.after.toks[i]
		if had[t.text]--; had[t.text] < 0 {
			c.found(Finding{Kind: Patched, Path: f.path, Test: t.text, Line: t.line, After: shown(f.after.toks[max(0, i-1):min(len(f.after.toks), i+5)]), Grave: true})
		}
	}
}

// scoped are the tests of a file by their names and by what they stand in.
func (p *parsed) scoped() map[string][]*unit {
	out := map[string][]*unit{}
	around := make([]int, len(p.toks)) // of the first token of a line, that of the line that it stands in; -1: none
	var open []int
	for i, t := range p.toks {
		if !t.lead || t.kind == newline {
			continue
		}
		for len(open) > 0 && p.toks[open[len(open)-1]].col >= t.col {
			open = open[:len(open)-1]
		}
		if around[i] = -1; len(open) > 0 {
			around[i] = open[len(open)-1]
		}
		open = append(open, i)
	}
	for _, u := range p.units[1:] {
		if !u.test || p.l.name == "ruby" && !p.is(u.from, "def") {
			continue
		}
		scope := ""
		for at := around[p.lineStart(u.from)]; at >= 0; at = around[at] {
			end := at
			for end < u.from && p.toks[end].line == p.toks[at].line {
				end++
			}
			scope = joined(p.toks[at:end], "") + "\x00" + scope
		}
		key := scope + "\x00" + ownName(u.name)
		out[key] = append(out[key], u)
	}
	return out
}

// classes are the classes of a file that hold tests.
func (p *parsed) classes() []string {
	var out []string
	tests := map[int]bool{}
	for _, u := range p.units {
		if u.test && u.col > 0 {
			tests[u.from] = true
		}
	}
	class := -1 // the last line at the margin, if that is one that holds no test yet
	for i, t := range p.toks {
		if t.lead && t.col == 0 && t.kind != newline {
			if class = -1; p.is(i, "class") && p.isKind(i+1, ident) {
				class = i
			}
		}
		if class >= 0 && tests[i] {
			out, class = append(out, p.toks[class+1].text), -1
		}
	}
	return out
}

// replaces are the tokens at which one of some names gets another value: it is assigned, deleted, imported, or declared as a
// class beyond the first time.
func (p *parsed) replaces(names map[string]bool) []int {
	var out []int
	declared := map[string]bool{}
	for i, t := range p.toks {
		if !names[t.text] {
			continue
		}
		u := p.unitAt(i)
		global := u.name == "" || p.within[i] >= 0 && p.isKind(i, text)
		switch {
		case t.kind == text: // globals()["test_mul"] = …, setattr(TestMul, "test_mul", …)
			if p.is(i-1, "[") && p.is(i+1, "]") && p.is(i+2, "=") || p.is(i+1, ",") && p.near(i-6, i, "setattr", "delattr") {
				out = append(out, i)
			}
		case t.kind != ident:
		case p.is(i-1, "class") && p.toks[i-1].col == 0:
			if declared[t.text] {
				out = append(out, i)
			}
			declared[t.text] = true
		case p.is(i-1, "."):
			if p.is(i+1, "=") {
				out = append(out, i)
			}
		case !global:
		case p.is(i+1, "=") && (p.within[i] < 0), p.is(i-1, "del"):
			out = append(out, i)
		case p.is(i-1, "import") || p.is(i-1, ",") || p.is(i-1, "as"):
			if p.is(p.lineStart(i), "from") {
				out = append(out, i)
			}
		}
	}
	return out
}
