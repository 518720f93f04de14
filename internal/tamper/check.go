package tamper

import (
	"slices"
	"strings"
)

// check is one assertion.
type check struct {
	key      string // its words, with "_" for names: what is asserted, and with which texts and numbers
	exact    string
	lits     []string // sorted
	says     string   // class of what it asserts
	strength int      // 3 a value, 2 a part or a kind, 1 that something is there, 0 nothing
	line     int
	from, to int    // tokens of it
	cond     [2]int // tokens of the condition of a failure, which stand elsewhere
	helper   string // the function that it calls, when that is what makes it one
	raises   bool   // it says that something is raised
	text     bool   // it asks for its texts of what is raised, or matches
}

// What a check may assert.
const (
	saysEqual    = "eq"
	saysDiffers  = "ne"
	saysNil      = "nil"
	saysNotNil   = "notnil"
	saysTrue     = "true"
	saysFalse    = "false"
	saysCompares = "cmp"
	saysOther    = "other"
)

var strengths = map[string]int{saysEqual: 3, saysDiffers: 1, saysNil: 2, saysNotNil: 1, saysTrue: 1, saysFalse: 1, saysCompares: 2, saysOther: 2}

// opposite reports whether two checks cannot stand for each other.
func opposite(a, b string) bool {
	for _, pair := range [][2]string{{saysEqual, saysDiffers}, {saysNil, saysNotNil}, {saysTrue, saysFalse}} {
		if a == pair[0] && b == pair[1] || a == pair[1] && b == pair[0] {
			return true
		}
	}
	return false
}

// findChecks finds the assertions of a file.
func (p *parsed) findChecks() {
	for i := 0; i < len(p.toks); i++ {
		if p.toks[i].kind != ident {
			continue
		}
		switch {
		case p.l.name == "python" && p.toks[i].text == "assert" && (i == 0 || p.isKind(i-1, newline) || p.is(i-1, ":") || p.is(i-1, ";")):
			end := i + 1
			for ; end < len(p.toks) && p.toks[end].kind != newline; end++ {
			}
			cond := firstArgument(p, i+1, end)
			p.conditions(i, end, cond[0], cond[1], false)
			i = end - 1
		case p.toks[i].text == outputMark:
			p.printed(i)
			i++
		case p.l.name == "go" && p.failCall(i):
			p.goCheck(i)
			i = p.close(i+1) - 1
		default:
			if end := p.callCheck(i); end > i {
				i = end - 1
			}
		}
	}
}

// firstArgument is the part of a row of tokens before its first comma that is in no parentheses.
func firstArgument(p *parsed, from, to int) [2]int {
	for i := from; i < to; i++ {
		if end, ok := p.pairs[i]; ok && end > i {
			i = end
		} else if p.is(i, ",") {
			return [2]int{from, i}
		}
	}
	return [2]int{from, to}
}

// arguments are the parts between commas of what is in the parentheses that open at a token.
func (p *parsed) arguments(open int) [][2]int {
	var out [][2]int
	end := p.close(open) - 1
	for from := open + 1; from < end; {
		a := firstArgument(p, from, end)
		if a[1] > a[0] {
			out = append(out, a)
		}
		from = a[1] + 1
	}
	return out
}

// failCall reports whether a token is the name of Go's t.Errorf and the like.
func (p *parsed) failCall(i int) bool {
	if !p.is(i+1, "(") || !p.is(i-1, ".") || !p.isKind(i-2, ident) {
		return false
	}
	switch p.toks[i].text {
	case "Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow":
		on := p.toks[i-2].text
		return len(on) <= 2 || on == "tb" || on == "test" || on == "suite" || on == "testing"
	}
	return false
}

// goCheck reads the condition under which a test fails.
func (p *parsed) goCheck(i int) {
	depth := 0
	for at := i - 1; at > p.unitAt(i).from && !p.tooDeep(); at-- {
		p.work++
		switch {
		case p.is(at, "}"):
			depth++
		case p.is(at, "{") && depth > 0:
			depth--
		case p.is(at, "{"):
			from, word := p.header(at)
			switch word {
			case "if":
				for n := from; n < at; n++ { // what comes before the condition
					if p.is(n, ";") {
						from = n + 1
					}
				}
				p.conditions(i, p.close(i+1), from, at, true)
				return
			case "else", "for", "func":
				p.one(i, p.close(i+1), from, at, saysOther, word)
				return
			}
		case p.is(at, ":") && depth == 0: // of a case
			for n := at - 1; n > 0 && !p.is(n, "{") && !p.is(n, "}") && p.toks[n].line == p.toks[at].line; n-- {
				if p.is(n, "case") {
					p.conditions(i, p.close(i+1), n+1, at, true)
					return
				}
			}
		}
	}
	p.one(i, p.close(i+1), i, i+1, saysOther, "fail")
}

// header finds the words before a block: where what follows its keyword begins, and that keyword.
func (p *parsed) header(brace int) (from int, word string) {
	for at := brace - 1; at >= 0; at-- {
		if open, ok := p.pairs[at]; ok && open < at {
			at = open
			continue
		}
		switch {
		case p.is(at, "if"), p.is(at, "else"), p.is(at, "for"), p.is(at, "func"), p.is(at, "switch"), p.is(at, "select"):
			return at + 1, p.toks[at].text
		case p.is(at, "{"), p.is(at, "}"):
			return at + 1, ""
		}
	}
	return 0, ""
}

// conditions takes a condition apart: each part of it is a check. With fails it is the condition of a failure.
func (p *parsed) conditions(at, end, from, to int, fails bool) {
	for p.is(from, "(") && p.close(from) == to && len(p.arguments(from)) == 1 { // formatters add parentheses
		from, to = from+1, to-1
	}
	both, either := []string{"and", "&&"}, []string{"or", "||"}
	if fails {
		both, either = either, both
	}
	start := from
	for i := from; i < to; i++ {
		if close, ok := p.pairs[i]; ok && close > i {
			i = close
			continue
		}
		if p.toks[i].kind != text && slices.Contains(both, p.toks[i].text) {
			p.condition(at, end, start, i, fails, either)
			start = i + 1
		}
	}
	p.condition(at, end, start, to, fails, either)
}

func (p *parsed) condition(at, end, from, to int, fails bool, either []string) {
	says, op := saysTrue, -1
	for i := from; i < to && op < 0; i++ {
		if close, ok := p.pairs[i]; ok && close > i {
			i = close
			continue
		}
		if p.toks[i].kind == text {
			continue
		}
		switch p.toks[i].text {
		case "==", "===", "eq":
			says, op = saysEqual, i
		case "!=", "!==":
			says, op = saysDiffers, i
		case "is":
			says, op = saysEqual, i
			if p.is(i+1, "not") {
				says = saysDiffers
			}
		case "in":
			says, op = saysOther, i
		case "<", ">", "<=", ">=", "=~":
			says, op = saysCompares, i
		}
	}
	weak := false
	for i := from; i < to; i++ {
		weak = weak || p.toks[i].kind != text && slices.Contains(either, p.toks[i].text)
	}
	if op < 0 && (p.is(from, "!") || p.is(from, "not")) {
		says = saysFalse
	}
	if fails {
		switch says {
		case saysEqual:
			says = saysDiffers
		case saysDiffers:
			says = saysEqual
		case saysTrue:
			says = saysFalse
		case saysFalse:
			says = saysTrue
		}
	}
	if op >= 0 && (says == saysEqual || says == saysDiffers) {
		for _, n := range []int{op + 1, op + 2, from} {
			if n < to && n != op && isNothing(p.toks[n]) && (n != from || op == from+1) {
				says = map[string]string{saysEqual: saysNil, saysDiffers: saysNotNil}[says]
				break
			}
		}
	}
	if says == saysEqual && p.is(from, "type") { // type(x) is float
		says = saysOther
	}
	if says == saysTrue && (p.is(from, "isinstance") || p.is(from, "issubclass")) {
		says = saysOther
	}
	if says == saysTrue { // a call that compares
		for i := from; i < to; i++ {
			if p.toks[i].kind == ident && p.is(i+1, "(") && strings.HasSuffix(strings.ToLower(p.toks[i].text), "equal") {
				says = saysEqual
			}
		}
	}
	c := p.make(at, end, from, to, says, "")
	if p.l.name == "python" && p.is(from, "(") && p.close(from) == to && len(p.arguments(from)) > 1 { // a tuple is always true
		c.strength = 0
	}
	if op >= 0 && joined(p.toks[from:op], "") == joined(p.toks[op+1:to], "") {
		c.strength = 0
	}
	if weak {
		c.strength = min(c.strength, 2)
		for i := from; i < to; i++ {
			if p.toks[i].kind != text && slices.Contains(either, p.toks[i].text) && (isAlways(p.toks, i+1, to) || i == from+1 && isAlways(p.toks, from, i)) {
				c.strength = 0
			}
		}
	}
	c.trivial()
	u := p.unitAt(at)
	u.checks = append(u.checks, c)
}

// trivial keeps a check that asserts nothing apart from those that look like it.
func (c *check) trivial() {
	if c.strength == 0 {
		c.key = "nothing " + c.key
	}
}

// isAlways reports whether a row of tokens that ends at `to` or an operator is one literal.
func isAlways(toks []token, i, to int) bool {
	return i < to && (i+1 == to || toks[i+1].kind == newline || toks[i+1].kind == punct || toks[i+1].text == "and" || toks[i+1].text == "or") && isLiteral(toks[i])
}

func isNothing(t token) bool {
	return t.kind == ident && (t.text == "nil" || t.text == "None" || t.text == "null" || t.text == "undefined")
}

func isLiteral(t token) bool {
	if t.kind == text || t.kind == number {
		return true
	}
	switch t.text {
	case "true", "false", "True", "False":
		return t.kind == ident
	}
	return isNothing(t)
}

// one adds a check of a kind.
func (p *parsed) one(at, end, from, to int, says, word string) {
	u := p.unitAt(at)
	u.checks = append(u.checks, p.make(at, end, from, to, says, word))
}

// make reads what a check is made of. word goes before its key.
func (p *parsed) make(at, end, from, to int, says, word string) check {
	c := check{says: says, strength: strengths[says], line: p.toks[at].line, from: at, to: end, cond: [2]int{from, to}}
	var key strings.Builder
	key.WriteString(says + " " + word + " ")
	names, last, depth, own := 0, "", 0, 0
	if p.is(from, "(") {
		own = 1 // its own arguments
	}
	put := func(s string) {
		if s == "_" && (last == "_" || last == ".") {
			return // a.b.c is one name
		}
		if s != "." || last != "_" {
			key.WriteString(s + " ")
			last = s
		}
	}
	for i := from; i < to; i++ {
		t := p.toks[i]
		if p.is(i, "(") {
			depth++
		} else if p.is(i, ")") {
			depth--
		}
		switch {
		case t.kind == newline, t.kind == punct && t.text == ";", t.kind == punct && t.text == "," && (p.is(i+1, ")") || p.is(i+1, "]") || p.is(i+1, "}")):
		case t.kind == text:
			c.lits = append(c.lits, t.text)
			put("'" + t.text + "'")
		case t.kind == number:
			c.lits = append(c.lits, t.text)
			put(t.text)
		case isLiteral(t) && !isNothing(t):
			if depth <= own { // deeper it is an option of a call
				c.lits = append(c.lits, strings.ToLower(t.text))
			}
			put(strings.ToLower(t.text))
		case t.kind == ident && !isOperator(t.text) && !isNothing(t):
			names++
			put("_")
		default:
			put(t.text)
		}
	}
	slices.Sort(c.lits)
	c.key, c.exact = key.String(), joined(p.toks[from:to], "")
	if (says == saysTrue || says == saysFalse) && len(c.lits) > 0 && names > 0 {
		c.strength = 2
	}
	if names == 0 && word != "fail" && word != "else" && word != "for" && word != "func" {
		c.strength = 0 // it compares what is written there with what is written there
	}
	return c
}

func isOperator(word string) bool {
	switch word {
	case "in", "not", "is", "and", "or", "instanceof", "typeof", "await", "lambda":
		return true
	}
	return false
}
