package tamper

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// handed reports whether what a test called is called for it now, before it runs: by a fixture of pytest that is one of its
// parameters, by what its class or file sets up, or by what stands around the tests of a script.
func (u *unit) handed(now *unit, was, is *parsed, after *side) bool {
	var calls bag
	if is.l.name == "python" {
		calls = bag{}
		is.fixturesOf(now, after, calls, 3)
	} else {
		calls = maps.Clone(bag(is.units[0].calls))
		if was != nil {
			calls.addAll(was.units[0].calls, -1)
		}
	}
	for _, o := range is.units {
		if setsUp(o) {
			calls.addAll(o.calls, 1)
		}
	}
	for _, o := range was.all() {
		if setsUp(o) {
			calls.addAll(o.calls, -1)
		}
	}
	for name := range u.calls {
		if isTry(u, name) && calls[name] > 0 {
			return true
		}
	}
	return false
}

func (p *parsed) all() []*unit {
	if p == nil {
		return nil
	}
	return p.units
}

// setsUp reports whether a function is run before each test, or all of them, by its name.
func setsUp(u *unit) bool {
	switch strings.ToLower(strings.ReplaceAll(ownName(u.name), "_", "")) {
	case "setup", "setupclass", "setupmethod", "setupmodule", "setupfunction", "setuptest", "setupsuite", "asyncsetup", "beforeeach", "beforeall":
		return !u.test
	}
	return false
}

// maxFixtures bounds how many fixtures of one name are looked at.
const maxFixtures = 8

// fixturesOf adds what the fixtures call that are parameters of a function in Python, and those that they take themselves.
func (p *parsed) fixturesOf(u *unit, after *side, into bag, deep int) {
	if deep == 0 {
		return
	}
	for i := u.from; i < u.body; i++ {
		if !p.isKind(i, ident) || !p.is(p.within[i], "(") || !p.is(p.within[i]-2, "def") {
			continue
		}
		list := after.units[p.toks[i].text]
		for _, f := range list[:min(len(list), maxFixtures)] {
			file := after.files[after.paths[f]]
			if f == u || f.test || !file.is(f.from, "@") || !file.near(f.from, f.body, "fixture") {
				continue
			}
			into.addAll(f.calls, 1)
			file.fixturesOf(f, after, into, deep-1)
		}
	}
}

// inherited reports whether a check of a class stands in another class now, from which that class inherits: it is still
// run for both. Python alone is read so.
func (c *comparison) inherited(l asserted, before, after *side) bool {
	was := before.files[l.path]
	if was == nil || was.l.name != "python" {
		return false
	}
	class := was.classOf(l.unit)
	if class == "" || len(after.bases()[class]) == 0 {
		return false
	}
	name := ownName(l.unit.name)
	for n, list := 2, after.units[name]; len(list) > 0; n, list = n+1, after.units[fmt.Sprintf("%s%s%d", name, again, n)] {
		for _, o := range list {
			same := func(k check) bool { return k.key == l.key && k.exact == l.exact }
			if !c.step() {
				return false
			}
			if base := after.files[after.paths[o]].classOf(o); base != class && after.bases()[class][base] && slices.ContainsFunc(o.checks, same) {
				return true
			}
		}
	}
	return false
}

// classOf is the name of the class in Python that a function stands in, "" if it stands in none.
func (p *parsed) classOf(u *unit) string {
	if p.around == nil {
		p.around = map[int]string{}
		var open []int // first tokens of the lines that a line stands in
		for i, t := range p.toks {
			if !t.lead || t.kind == newline || p.within[i] >= 0 {
				continue
			}
			for len(open) > 0 && p.toks[open[len(open)-1]].col >= t.col {
				open = open[:len(open)-1]
			}
			for _, at := range slices.Backward(open) {
				if p.is(at, "class") && p.isKind(at+1, ident) {
					p.around[i] = p.toks[at+1].text
					break
				}
			}
			open = append(open, i)
		}
	}
	return p.around[u.from]
}

// bases are the classes in Python with the names that they are declared with: those that they inherit from.
func (s *side) bases() map[string]map[string]bool {
	if s.inherits != nil {
		return s.inherits
	}
	s.inherits = map[string]map[string]bool{}
	for _, p := range s.files {
		for i := range p.toks {
			if p.l.name != "python" || !p.is(i, "class") || !p.isKind(i+1, ident) || !p.is(i+2, "(") {
				continue
			}
			class := p.toks[i+1].text
			for n := i + 3; n < p.pairs[i+2]; n++ {
				if p.isKind(n, ident) {
					if s.inherits[class] == nil {
						s.inherits[class] = map[string]bool{}
					}
					s.inherits[class][p.toks[n].text] = true
				}
			}
		}
	}
	return s.inherits
}
