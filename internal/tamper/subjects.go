package tamper

import "slices"

// removedNames are what the code that is handed over declared and does not mention any more.
func (c *comparison) removedNames() map[string]bool {
	gone := map[string]bool{}
	for _, f := range c.code {
		if f.before != nil {
			for _, name := range f.before.declared() {
				gone[name] = true
			}
		}
	}
	for _, f := range c.code {
		if f.after != nil {
			for _, t := range f.after.toks {
				if t.kind == ident {
					delete(gone, t.text)
				}
			}
		}
	}
	return gone
}

// declared are the names that a file declares for others. What a function has for itself is no subject of a test.
func (p *parsed) declared() []string {
	var names []string
	for i, t := range p.toks {
		if t.kind != ident || !p.isKind(i+1, ident) {
			continue
		}
		switch t.text {
		case "class", "struct", "type", "interface", "enum", "trait", "module", "record":
			if p.outside(i) {
				names = append(names, p.toks[i+1].text)
			}
		case "const", "var", "let", "val":
			if p.outside(i) && p.toks[p.lineStart(i)].col == 0 {
				names = append(names, p.toks[i+1].text)
			}
		}
	}
	byBody := slices.Clone(p.units[1:])
	slices.SortFunc(byBody, func(a, b *unit) int { return a.body - b.body })
	byFrom := slices.Clone(p.units[1:])
	slices.SortFunc(byFrom, func(a, b *unit) int { return a.from - b.from })
	within := 0 // where the last body ends that has begun
	for _, u := range byFrom {
		for ; len(byBody) > 0 && byBody[0].body < u.from; byBody = byBody[1:] {
			within = max(within, byBody[0].to)
		}
		if u.to > within {
			names = append(names, ownName(u.name))
		}
	}
	return names
}

// outside reports whether a token stands in no function.
func (p *parsed) outside(i int) bool {
	u := p.unitAt(i)
	return u.name == "" || i < u.body
}

// lineStart is the first token of a token's line.
func (p *parsed) lineStart(i int) int {
	return p.starts[i]
}

// subjectsGone are the names that a test used and the code no longer has, where tests may go with them. What the test
// assigns itself is its own. The tests that the work is about have their subject still.
func (c *comparison) subjectsGone(u *unit, p *parsed, removed map[string]bool) map[string]bool {
	if !c.MayRemove || p == nil || len(removed) == 0 || c.Target != nil && c.Target(ownName(u.name)) {
		return nil
	}
	gone := map[string]bool{}
	for _, t := range p.toks[u.from:u.to] {
		if t.kind == ident && removed[t.text] {
			gone[t.text] = true
		}
	}
	for i := u.body; i < u.to; i++ {
		if p.assigns(i) {
			delete(gone, p.toks[i].text)
		}
	}
	return gone
}

// assigns reports whether a token is a name that gets a value there.
func (p *parsed) assigns(i int) bool {
	if !p.isKind(i, ident) || p.is(i-1, ".") {
		return false
	}
	for next := i + 1; ; next += 2 { // a, b := f()
		if p.is(next, "=") || p.is(next, ":=") {
			return p.within[i] < 0 || !p.is(p.within[i], "(") // not an argument by its name
		}
		if !p.is(next, ",") || !p.isKind(next+1, ident) {
			break
		}
	}
	return p.is(i-1, "var") || p.is(i-1, "let") || p.is(i-1, "const") || p.is(i-1, "val")
}

// about reports whether a check asks about one of some names, by itself or by what its test got from them.
func (p *parsed) about(k asserted, names map[string]bool) bool {
	if p == nil || len(names) == 0 {
		return false
	}
	words := map[string]bool{}
	for _, r := range [][2]int{{k.from, k.to}, k.cond} {
		for i := r[0]; i < r[1]; i++ {
			if p.toks[i].kind == ident {
				words[p.toks[i].text] = true
			}
		}
	}
	for i := k.unit.body; i < k.unit.to; i++ {
		if words[p.toks[i].text] && p.assigns(i) {
			for n := i + 1; n < k.unit.to && p.toks[n].line == p.toks[i].line; n++ {
				if p.toks[n].kind == ident {
					words[p.toks[n].text] = words[p.toks[n].text] || names[p.toks[n].text]
				}
			}
		}
	}
	for name := range names {
		if words[name] {
			return true
		}
	}
	return false
}
