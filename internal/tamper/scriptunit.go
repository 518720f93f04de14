package tamper

import "slices"

// scriptUnits finds calls of test and it, and named functions.
func (p *parsed) scriptUnits() {
	for i, t := range p.toks {
		if t.kind != ident || p.tooDeep() {
			continue
		}
		switch t.text {
		case "it", "test", "specify", "fit", "xit", "xtest":
			if p.is(i-1, ".") && !p.is(i-2, "t") && !p.is(i-2, "ctx") && !p.is(i-2, "context") || p.is(i-1, "function") {
				continue
			}
			at := i + 1
			for p.is(at, ".") && p.isKind(at+1, ident) {
				at += 2
			}
			if p.isKind(at, text) { // a table: test.each`…`(…)
				at++
			} else if p.is(at, "(") && p.is(p.close(at), "(") { // test.each([…])(…)
				at = p.close(at)
			}
			if !p.is(at, "(") || !p.isKind(at+1, text) {
				continue
			}
			p.add(&unit{name: p.toks[at+1].text, test: true, from: i, to: p.close(at), body: at + 2, col: t.col})
		case "function":
			at := i + 1
			if p.is(at, "*") {
				at++
			}
			if open := p.behindTypes(at + 1); p.isKind(at, ident) && p.is(open, "(") {
				p.blockUnit(i, at, p.close(open))
			}
		case "const", "let", "var":
			if p.isKind(i+1, ident) && p.is(i+2, "=") {
				at := i + 3
				if p.is(at, "async") {
					at++
				}
				if p.is(at, "function") {
					at++
				}
				if at = p.behindTypes(at); p.isKind(at, ident) && p.is(at+1, "=>") {
					p.arrowUnit(i, at+2)
				} else if p.is(at, "(") && p.is(p.close(at), "{") {
					p.blockUnit(i, i+1, p.close(at))
				} else if p.is(at, "(") {
					p.arrowUnit(i, p.behindArrow(p.close(at)))
				}
			}
		}
	}
}

// behindArrow is the token behind the arrow of a function, whose parameters end before a token; 0 when it has none.
func (p *parsed) behindArrow(at int) int {
	typed := p.is(at, ":")
	for n := 0; n < 30 && at < len(p.toks) && !p.is(at, ";"); n++ {
		switch {
		case p.is(at, "=>"):
			return at + 1
		case !typed:
			return 0
		case p.opens(at):
			at = p.close(at)
		default:
			at++
		}
	}
	return 0
}

// maxAround is how many units are looked at to find the test around a constant: those before it in the same test.
const maxAround = 40

// arrowUnit adds a function that a constant holds: its body is a block, or an expression that ends with its statement. Such
// an expression in a test is the test's own: it often is what the test tries.
func (p *parsed) arrowUnit(from, body int) {
	if body == 0 {
		return
	}
	to := p.close(body)
	if !p.is(body, "{") {
		if slices.ContainsFunc(p.units[max(0, len(p.units)-maxAround):], func(u *unit) bool { return u.test && u.to > from }) {
			return
		}
		to = p.expressionEnd(body)
	}
	if to > body {
		p.add(&unit{name: p.toks[from+1].text, from: from, to: to, body: body, col: p.toks[from].col})
	}
}

// expressionEnd is the token behind an expression: a line ends it that no operator carries on.
func (p *parsed) expressionEnd(from int) int {
	at := from
	for at < len(p.toks) && !p.tooDeep() && !p.closes(at) && !p.is(at, ";") && !p.is(at, ",") {
		if at > from && p.toks[at].lead && !p.carriesOn(at-1) && !p.carriesOn(at) {
			break
		}
		p.work++
		if p.opens(at) {
			at = p.close(at)
		} else {
			at++
		}
	}
	return at
}

// carriesOn reports whether a token of an expression makes it go on over the end of a line.
func (p *parsed) carriesOn(i int) bool {
	t := p.toks[i]
	switch t.text {
	case "await", "new", "typeof", "void", "delete", "in", "instanceof", "as", "satisfies":
		return t.kind == ident
	case ")", "]", "}", "++", "--", "{", "@":
		return false
	}
	return t.kind == punct
}

func (p *parsed) blockUnit(from, name, at int) {
	for n := 0; at < len(p.toks) && n < 30 && !p.is(at, "{") && !p.is(at, ";"); n++ {
		at++
	}
	if p.is(at, "{") {
		p.add(&unit{name: p.toks[name].text, from: from, to: p.close(at), body: at, col: p.toks[from].col})
	}
}
