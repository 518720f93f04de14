package tamper

import (
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

// fixturesOf adds what the fixtures call that are parameters of a function in Python, and those that they take themselves.
func (p *parsed) fixturesOf(u *unit, after *side, into bag, deep int) {
	if deep == 0 {
		return
	}
	for i := u.from; i < u.body; i++ {
		if !p.isKind(i, ident) || !p.is(p.within[i], "(") || !p.is(p.within[i]-2, "def") {
			continue
		}
		for _, f := range after.units[p.toks[i].text] {
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
func (s *side) inherited(l asserted, before *side) bool {
	was := before.files[l.path]
	if was == nil || was.l.name != "python" {
		return false
	}
	class := was.classOf(l.unit)
	if class == "" {
		return false
	}
	for name, list := range s.units {
		if ownName(name) != ownName(l.unit.name) {
			continue
		}
		for _, o := range list {
			file := s.files[s.paths[o]]
			base := file.classOf(o)
			same := func(k check) bool { return k.key == l.key && k.exact == l.exact }
			if base != "" && base != class && slices.ContainsFunc(o.checks, same) && s.extends(class, base) {
				return true
			}
		}
	}
	return false
}

// classOf is the name of the class in Python that a function stands in, "" if it stands in none.
func (p *parsed) classOf(u *unit) string {
	for i := u.from - 1; i >= 0 && u.col > 0; i-- {
		if t := p.toks[i]; t.lead && t.kind != newline && t.col < u.col {
			if p.is(i, "class") && p.isKind(i+1, ident) {
				return p.toks[i+1].text
			}
			if t.col == 0 && !p.closes(i) {
				return ""
			}
		}
	}
	return ""
}

// extends reports whether a class in Python is declared with another one among those that it inherits from.
func (s *side) extends(class, base string) bool {
	for _, p := range s.files {
		for i := range p.toks {
			if p.is(i, "class") && p.is(i+1, class) && p.is(i+2, "(") && p.near(i+3, p.close(i+2), base) {
				return true
			}
		}
	}
	return false
}
