package tamper

import (
	"slices"
	"strconv"
	"strings"
)

// implied reports whether a lost check says less than one that stood right beside it, of the same subject, and stands still:
// what is 2 is more than 0.
func (l asserted) implied(before, after *side) bool {
	p := before.files[l.path]
	if p == nil || p.l.name == "go" { // its conditions are those of failures
		return false
	}
	subject, op, least, ok := p.bound(l.cond)
	return ok && slices.ContainsFunc(l.unit.checks, func(o check) bool {
		same, value, ok := p.value(o)
		return ok && same == subject && compare(value, op, least) && p.beside(o, l.check) &&
			slices.ContainsFunc(after.units[l.unit.name], func(u *unit) bool {
				return slices.ContainsFunc(u.checks, func(k check) bool { return k.exact == o.exact && k.key == o.key })
			})
	})
}

// bound takes a condition apart that compares something with a number.
func (p *parsed) bound(a [2]int) (subject, op string, least float64, ok bool) {
	at := a[1] - 2
	if at <= a[0] || !slices.Contains([]string{">", ">=", "<", "<=", "!=", "!=="}, p.toks[at].text) || p.combines(a) || p.near(a[0], a[1], "and", "or", "not") {
		return "", "", 0, false
	}
	least, ok = p.number(a[1]-1, a[1])
	subject = joined(p.toks[a[0]:at], "")
	return subject, p.toks[at].text, least, ok && !consumes(p.toks[a[0]:at])
}

// value is what a check says that something is.
func (p *parsed) value(c check) (subject string, value float64, ok bool) {
	if c.says != saysEqual || c.strength < 3 {
		return "", 0, false
	}
	var parts [][2]int
	if p.is(c.cond[0], "(") {
		parts = p.arguments(c.cond[0])
		if open, is := p.pairs[c.to-1]; is && len(parts) == 1 { // expect(x).toBe(2)
			parts = append(parts, p.arguments(open)...)
		}
	} else if at := c.cond[1] - 2; at > c.cond[0] && (p.is(at, "==") || p.is(at, "===")) {
		parts = [][2]int{{c.cond[0], at}, {at + 1, c.cond[1]}}
	}
	if len(parts) != 2 {
		return "", 0, false
	}
	for n, a := range parts {
		if value, ok := p.number(a[0], a[1]); ok {
			return joined(p.toks[parts[1-n][0]:parts[1-n][1]], ""), value, true
		}
	}
	return "", 0, false
}

func (p *parsed) number(from, to int) (float64, bool) {
	if to != from+1 || !p.isKind(from, number) {
		return 0, false
	}
	n, err := strconv.ParseFloat(p.toks[from].text, 64)
	return n, err == nil
}

// beside reports whether nothing stands between two checks.
func (p *parsed) beside(a, b check) bool {
	if a.from > b.from {
		a, b = b, a
	}
	for i := a.to; i < b.from; i++ {
		if !p.isKind(i, newline) && !p.is(i, ";") {
			return false
		}
	}
	return true
}

// consumes reports whether something may be another thing each time that it is asked for.
func consumes(toks []token) bool {
	return slices.ContainsFunc(toks, func(t token) bool {
		low := strings.ToLower(t.text)
		return t.kind == ident && slices.ContainsFunc([]string{"next", "pop", "read", "recv", "shift", "take", "poll", "dequeue", "rand", "fetch", "step", "advance", "inc", "dec", "tick", "add", "remove"}, func(w string) bool { return strings.HasPrefix(low, w) })
	})
}

func compare(a float64, op string, b float64) bool {
	switch op {
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "<":
		return a < b
	case "<=":
		return a <= b
	}
	return a != b
}
