package tamper

// outside knows who uses what stands in no test: tables, constants, and functions that hold them.
type outside struct {
	before, after *side
	target        map[string]bool // names that tests use which the work is about
	kept          map[string]bool // names that tests use which are as they were
	changed       map[string]bool // names that other tests use
}

func (c *comparison) outsideOf(before, after *side) *outside {
	o := &outside{before: before, after: after, target: map[string]bool{}, kept: map[string]bool{}, changed: map[string]bool{}}
	for u, path := range before.paths {
		if !u.test {
			continue
		}
		into := o.changed
		switch {
		case c.Target != nil && c.Target(ownName(u.name)):
			into = o.target
		case after.exact[u.exact]:
			into = o.kept
		}
		before.files[path].words(u.from, u.to, into)
	}
	for _, set := range []map[string]bool{o.target, o.kept, o.changed} {
		o.reach(set)
	}
	return o
}

// words adds the names of a row of tokens to a set, and reports whether there was a new one.
func (p *parsed) words(from, to int, into map[string]bool) (grew bool) {
	for _, t := range p.toks[from:to] {
		if t.kind == ident && !into[t.text] {
			into[t.text], grew = true, true
		}
	}
	return grew
}

// reach adds what the functions and tables that are used use themselves.
func (o *outside) reach(set map[string]bool) {
	for grew := true; grew; {
		grew = false
		for u, path := range o.before.paths {
			if u.name != "" && !u.test && set[ownName(u.name)] {
				grew = o.before.files[path].words(u.from, u.to, set) || grew
			}
		}
	}
}

// stands reports whether one of the words that are lost stands in something that a test which is as it was, or which the
// work is about, is measured with.
func (o *outside) stands(u *unit, path string, lost func(string) bool) bool {
	p := o.before.files[path]
	if u.test || p == nil {
		return false
	}
	for i := u.from; i < u.to; i++ {
		t := p.toks[i]
		if t.kind != text && t.kind != number || p.unitAt(i) != u || !lost(t.text) || isComparison(p, i-1) || isComparison(p, i+1) {
			continue
		}
		name, row := ownName(u.name), u.rows[t.text] > 0
		if u.name == "" {
			name, row = p.declaredBy(i), true
		}
		switch {
		case name == "":
		case o.target[name], row && o.kept[name]:
			return true
		case row && !o.changed[name] && o.after.files[path].has(name): // tests of other files may use it
			return true
		}
	}
	return false
}

// isComparison reports whether a token compares what stands beside it.
func isComparison(p *parsed, i int) bool {
	return p.is(i, "==") || p.is(i, "===") || p.is(i, "!=") || p.is(i, "!==")
}

// has reports whether a file has a name.
func (p *parsed) has(name string) bool {
	if p != nil {
		for _, t := range p.toks {
			if t.kind == ident && t.text == name {
				return true
			}
		}
	}
	return false
}

// declaredBy is the name that gets the value in which a token stands, the outermost when there are several; "" for none.
func (p *parsed) declaredBy(i int) string {
	name := ""
	for i >= 0 && i < len(p.toks) {
		for at := i - 1; at > p.within[i]; at-- {
			if open, ok := p.pairs[at]; ok && open < at {
				at = open
				continue
			}
			if p.is(at, "=") || p.is(at, ":=") {
				name = p.assignee(at)
			}
			if p.isKind(at, newline) || p.is(at, ";") || p.toks[at].lead && p.toks[at].col == 0 || p.is(at, "var") || p.is(at, "const") || p.is(at, "let") {
				break
			}
		}
		i = p.within[i]
	}
	return name
}

// assignee is the name that gets the value behind a sign of assignment: what stands between a keyword and a type, or right
// before the sign.
func (p *parsed) assignee(sign int) string {
	for at := sign - 1; at >= 0 && at > p.within[sign]; at-- {
		if open, ok := p.pairs[at]; ok && open < at {
			at = open
			continue
		}
		switch {
		case p.isKind(at, newline), p.is(at, ";"):
			at = -1
		case p.is(at, "var"), p.is(at, "const"), p.is(at, "let"), p.is(at, "static"), p.is(at, "val"), p.is(at, "mut"):
			if p.isKind(at+1, ident) && p.l.name != "java" && p.l.name != "csharp" {
				return p.toks[at+1].text
			}
			at = -1
		case p.is(at, ":") && p.isKind(at-1, ident): // Python's annotation
			return p.toks[at-1].text
		case p.toks[at].lead:
			if p.l.name == "go" && p.isKind(at, ident) { // of a group
				return p.toks[at].text
			}
			at = -1
		}
	}
	if p.isKind(sign-1, ident) {
		return p.toks[sign-1].text
	}
	return ""
}
