package tamper

import (
	"maps"
	"slices"
	"strings"
)

// asserted is a check, and where it is.
type asserted struct {
	check
	unit *unit
	path string
}

// tests compares what all changed test files assert, taken together: what moved is still there.
func (c *comparison) tests() {
	before, after := c.side(func(p pair) *parsed { return p.before }), c.side(func(p pair) *parsed { return p.after })
	lost, gained := before.without(after)
	pool := bag{}
	pool.addAll(after.words, 1)
	pool.addAll(before.words, -1)
	c.report(c.unpaired(lost, gained, maps.Clone(pool), before, after), gained, before, after)
	c.inputs(before, after, pool)
	c.marks(before, after)
}

// side is what the changed test files hold in one of the two states.
type side struct {
	checks []asserted
	units  map[string][]*unit // by name
	first  map[place]*unit
	// inherits is what bases found; nil until somebody asks.
	inherits map[string]map[string]bool
	paths    map[*unit]string
	files    map[string]*parsed
	words    bag // texts and numbers, in checks or not
	exact    map[string]bool
	calls    map[string]bool
	tables   []*unit // that have checks and try several things
}

// place is a path, and the name of a unit there.
type place struct{ path, name string }

// bag counts words.
type bag map[string]int

func (b bag) addAll(words bag, sign int) {
	for w, n := range words {
		b[w] += sign * n
	}
}

// take removes words if it has all of them.
func (b bag) take(words []string) bool {
	need := bag{}
	for _, w := range words {
		need[w]++
	}
	for w, n := range need {
		if b[w] < n {
			return false
		}
	}
	b.addAll(need, -1)
	return true
}

func (c *comparison) side(of func(pair) *parsed) *side {
	s := &side{units: map[string][]*unit{}, first: map[place]*unit{}, paths: map[*unit]string{}, files: map[string]*parsed{}, words: bag{}, exact: map[string]bool{}, calls: map[string]bool{}}
	helpers := map[string]check{}
	for round := 0; round < 2; round++ { // a helper may call a helper
		for _, f := range c.test {
			if p := of(f); p != nil {
				p.helperChecks(helpers)
				for _, u := range p.units {
					if u.name != "" && !u.test && len(u.checks) > 0 {
						helpers[u.name] = strongest(u.checks)
					}
				}
			}
		}
	}
	for _, f := range c.test {
		p := of(f)
		if p == nil {
			continue
		}
		s.files[f.path] = p
		for _, u := range p.units {
			s.units[u.name] = append(s.units[u.name], u)
			if at := (place{f.path, u.name}); s.first[at] == nil {
				s.first[at] = u
			}
			s.paths[u] = f.path
			if u.exact != "" && u.test {
				s.exact[u.exact] = true
			}
			s.words.addAll(u.lits, 1)
			for name := range u.calls {
				s.calls[name] = true
			}
			for _, k := range u.checks {
				s.checks = append(s.checks, asserted{k, u, f.path})
				for _, w := range k.lits {
					s.words[w]++
				}
			}
			if u.table && len(u.checks) > 0 {
				s.tables = append(s.tables, u)
			}
		}
	}
	return s
}

func strongest(list []check) check {
	return slices.MaxFunc(list, func(a, b check) int { return a.strength - b.strength })
}

// helperChecks takes calls of functions that assert for assertions.
func (p *parsed) helperChecks(helpers map[string]check) {
	for i, t := range p.toks {
		h, is := helpers[t.text]
		open := p.behindTypes(i + 1)
		if t.kind != ident || !is || !p.is(open, "(") || p.is(i-1, "def") || p.is(i-1, "func") || p.is(i-1, "function") || p.is(i-1, "fn") {
			continue
		}
		u := p.unitAt(i)
		if n := slices.IndexFunc(u.checks, func(c check) bool { return i >= c.from && i < c.to }); n >= 0 { // known by its name as one
			if c := &u.checks[n]; (c.from == i || c.from == i-2 && p.ofItself(i)) && c.helper == "" {
				c.strength, c.says, c.helper = h.strength, h.says, t.text
			}
			continue
		}
		if u.name == t.text {
			continue
		}
		c := p.make(i, p.close(open), open, p.close(open), h.says, "helper")
		c.strength, c.helper = h.strength, t.text
		for _, w := range c.lits {
			u.lits[w]--
		}
		u.checks = append(u.checks, c)
	}
}

// ofItself reports whether a name is that of a method which is called on the object of the test.
func (p *parsed) ofItself(i int) bool {
	return p.is(i-1, ".") && (p.is(i-2, "self") || p.is(i-2, "this") || p.is(i-2, "cls"))
}

// report says what became of the checks that are lost.
func (c *comparison) report(lost, gained []asserted, before, after *side) {
	var order []*unit
	by := map[*unit][]asserted{}
	for _, l := range lost {
		if by[l.unit] == nil {
			order = append(order, l.unit)
		}
		by[l.unit] = append(by[l.unit], l)
	}
	removed := c.removedNames()
	ofUnit := map[*unit][]asserted{}
	for _, g := range gained {
		ofUnit[g.unit] = append(ofUnit[g.unit], g)
	}
	for _, u := range order {
		path := before.paths[u]
		now := after.same(u, path)
		gone := c.subjectsGone(u, before.files[path], removed)
		if now == nil && len(gone) > 0 {
			c.out.Gone = append(c.out.Gone, ownName(u.name))
			continue
		}
		if now == nil {
			if c.helperWent(u, before.files[path], after) {
				continue
			}
			c.found(Finding{Kind: Deleted, Path: path, Test: u.name, Line: u.line, Before: c.quote(before, by[u][0]), Grave: true})
			continue
		}
		if !slices.ContainsFunc(now.checks, func(k check) bool { return k.strength > 0 }) {
			f := Finding{Kind: Emptied, Path: after.paths[now], Test: u.name, Line: now.line, Before: c.quote(before, by[u][0]), Grave: true}
			if len(now.checks) > 0 {
				f.After = c.quote(after, asserted{now.checks[0], now, f.Path})
			}
			c.found(f)
			continue
		}
		mine := ofUnit[now]
		if len(mine) == 0 && tries(now) < tries(u) { // it went with what it asked
			by[u] = slices.DeleteFunc(by[u], func(l asserted) bool { return before.files[path].about(l, gone) })
		}
		for n, l := range by[u] {
			if n == maxOfTest {
				break
			}
			f := Finding{Kind: Removed, Path: path, Test: u.name, Line: now.line, Before: c.quote(before, l), Grave: true}
			if len(mine) > 0 {
				at := max(0, slices.IndexFunc(mine, func(g asserted) bool { return g.says == l.says && g.strength == l.strength }))
				g := mine[at]
				mine = slices.Delete(slices.Clone(mine), at, at+1)
				if f.Kind = Edited; g.strength < l.strength {
					f.Kind = Weakened
				}
				f.After, f.Line = c.quote(after, g), g.line
			}
			c.found(f)
		}
	}
}

// maxOfTest bounds how many findings about one test are told apart.
const maxOfTest = 5

func (c *comparison) quote(s *side, k asserted) string {
	p := s.files[k.path]
	if p == nil {
		return ""
	}
	from, to := k.from, k.to
	if p.l.name == "go" { // the condition is what people look for
		for at := from; at > k.unit.from && p.toks[at].line >= p.toks[k.from].line-1; at-- {
			if p.is(at, "if") {
				from = at
			}
		}
	}
	return shown(p.toks[from:min(to, len(p.toks))])
}

// same finds a unit of the other side by its name, in the same file first, or by its text.
func (s *side) same(u *unit, path string) *unit {
	if o := s.first[place{path, u.name}]; o != nil {
		return o
	}
	if list := s.units[u.name]; len(list) > 0 && u.name != "" {
		return list[0]
	}
	return nil
}

// inputs says which tests try something else now.
func (c *comparison) inputs(before, after *side, pool bag) {
	outside := c.outsideOf(before, after)
	for _, name := range sorted(before.units) {
		for _, u := range before.units[name] {
			path := before.paths[u]
			now := after.same(u, path)
			if now == nil {
				if u.test {
					continue
				}
				if now = (&unit{}); after.files[path] != nil {
					now = after.files[path].units[0]
				} else if u.name != "" {
					continue
				}
			}
			lost, gained := bag{}, bag{}
			lost.addAll(u.lits, 1)
			lost.addAll(now.lits, -1)
			gained.addAll(now.lits, 1)
			gained.addAll(u.lits, -1)
			row := func(w string) bool { return pool[w] < 0 && u.rows[w] > 0 && !c.moved(w) }
			gone, put := first(lost, func(w string) bool { return pool[w] < 0 && !c.moved(w) }), first(gained, func(w string) bool { return pool[w] > 0 })
			rows := (u.table || u.name == "" || !u.test) && len(before.checks) > 0
			target := c.Target != nil && u.test && c.Target(u.name)
			switch {
			case gone == "":
			case put != "" && (target || u.table), first(lost, row) != "" && u.table && len(u.checks) > 0:
				c.found(Finding{Kind: Input, Path: path, Test: u.name, Line: now.line, Before: gone, After: put, Grave: true})
			case outside.stands(u, path, func(w string) bool { return lost[w] > 0 && pool[w] < 0 && !c.moved(w) }):
				c.found(Finding{Kind: Input, Path: path, Test: u.name, Line: now.line, Before: gone, After: put, Grave: true})
			case put != "" && (rows || u.test) && after.files[path] != nil:
				c.found(Finding{Kind: Input, Path: path, Test: u.name, Line: now.line, Before: gone, After: put})
			}
			if u.test && len(u.checks) > 0 && tries(u) > 0 && tries(now) == 0 && len(now.checks) > 0 && !u.handed(now, before.files[path], after.files[after.paths[now]], after) {
				c.found(Finding{Kind: Emptied, Path: path, Test: u.name, Line: now.line, Before: "it called what it tests", After: "it calls nothing", Grave: true})
			}
		}
	}
}

// moved reports whether a text names a file that is not there any more: its content is compared elsewhere.
func (c *comparison) moved(w string) bool {
	if c.went == nil {
		c.went = map[string]bool{}
		for _, f := range c.Files {
			for rest, more := f.Path, f.After == nil; more; _, rest, more = strings.Cut(rest, "/") {
				c.went[rest] = true
			}
		}
	}
	return len(w) > 3 && (c.went[w] || c.went[strings.TrimLeft(w, "./")])
}

// tries counts the calls of a test that are no assertions and no talk.
func tries(u *unit) int {
	n := 0
	for name, times := range u.calls {
		if isTry(u, name) {
			n += times
		}
	}
	return n
}

func isTry(u *unit, name string) bool {
	switch low := strings.ToLower(name); {
	case strings.HasPrefix(low, "assert"), strings.HasPrefix(low, "expect"), strings.HasPrefix(low, "to"), low == "it", low == "test", low == "equal", low == "is", low == "ok",
		isExample(u.name) && strings.HasPrefix(low, "print"), low == "errorf", low == "error", low == "fatal", low == "fatalf", low == "log", low == "logf", low == "print", low == "helper", name == u.name:
		return false
	}
	return true
}

// first is the first word of a bag that is there and fits.
func first(b bag, fits func(string) bool) string {
	for _, w := range sorted(b) {
		if b[w] > 0 && fits(w) && strings.TrimSpace(w) != "" {
			if r := []rune(w); len(r) > maxShown {
				return string(r[:maxShown-1]) + "…"
			}
			return strings.Join(strings.Fields(w), " ")
		}
	}
	return ""
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// marks says which tests are not run or cannot fail since.
func (c *comparison) marks(before, after *side) {
	for _, name := range sorted(after.units) {
		for _, now := range after.units[name] {
			path := after.paths[now]
			old := before.same(now, path)
			if old == nil && now.name == "" && before.files[path] != nil {
				old = before.files[path].units[0]
			}
			for _, kind := range Kinds() {
				list := slices.DeleteFunc(slices.Clone(now.marks), func(m mark) bool { return m.kind != kind })
				had := 0
				if old != nil {
					for _, m := range old.marks {
						if m.kind == kind {
							had++
						}
					}
				}
				if len(list) <= had {
					continue
				}
				m := list[len(list)-1]
				whole := now.name == "" || !now.test // what is there for several tests
				if old == nil && kind != Only && kind != Exits && !(whole && before.files[path] != nil) {
					continue // a new test may be skipped: nobody counts on it
				}
				if kind == Exits && old == nil && now.test {
					continue
				}
				c.found(Finding{Kind: kind, Path: path, Test: now.name, Line: m.line, After: m.says, Grave: true})
			}
		}
	}
	for _, f := range c.test {
		c.goBuild(f)
		c.again(f)
		c.imports(f)
		c.hooks(f)
	}
}
