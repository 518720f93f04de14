package tamper

import (
	"slices"
	"strings"
)

// callCheck reads an assertion that is written as a call, from the first name of its chain. It returns the token behind
// it, 0 when there is none.
func (p *parsed) callCheck(i int) int {
	if p.is(i-1, ".") || p.is(i-1, "::") || p.is(i-1, "?.") || p.is(i-1, "->") || p.is(i-1, "def") || p.is(i-1, "function") || p.is(i-1, "func") || p.is(i-1, "fn") {
		return 0
	}
	head := strings.ToLower(p.toks[i].text)
	var words []string
	var args []int // where the parentheses of calls of the chain open
	at := i
	for at < len(p.toks) {
		if p.toks[at].kind != ident {
			break
		}
		words = append(words, strings.ToLower(strings.ReplaceAll(p.toks[at].text, "_", "")))
		at++
		if p.l.name == "rust" && p.is(at, "!") {
			at++
		}
		if p.is(at, "<") && p.l.name != "ruby" { // type arguments
			for n := at + 1; n < len(p.toks) && n < at+12; n++ {
				if p.is(n, ">") && p.is(n+1, "(") {
					at = n + 1
					break
				}
			}
		}
		for p.is(at, "(") {
			args = append(args, at)
			at = p.close(at)
		}
		next := at
		for p.isKind(next, newline) && p.l.name == "ruby" {
			next++
		}
		if (p.is(next, ".") || p.is(next, "::") || p.is(next, "->") || p.is(next, "?.")) && p.isKind(next+1, ident) {
			at = next + 1
			continue
		}
		break
	}
	if w, a, ok := p.ofSuite(i, words, args); ok {
		head, words, args = w[0], w, a
	}
	if !p.asserts(i, head, words, len(args) > 0) {
		return 0
	}
	if p.l.name == "ruby" && (head == "expect" || len(args) == 0 || slices.Contains(words, "should")) {
		for at < len(p.toks) && p.toks[at].kind != newline && !p.is(at, "}") && !p.is(at, "do") && !p.is(at, "end") {
			if end, ok := p.pairs[at]; ok && end > at {
				at = end
			}
			at++
		}
	}
	p.call(i, at, words, args)
	return at
}

// asserts reports whether a chain of names is an assertion.
func (p *parsed) asserts(i int, head string, words []string, called bool) bool {
	last := words[len(words)-1]
	starts := func(word string) bool {
		for _, prefix := range []string{"assert", "expect", "verify", "must", "should", "ensure", "check"} {
			if strings.HasPrefix(word, prefix) {
				return true
			}
		}
		return false
	}
	switch {
	case head == "self" && strings.HasPrefix(last, "assert"), last == "asserttrue":
		return called || p.l.name == "ruby"
	case head == "pytest" && (last == "raises" || last == "warns" || last == "fail"), last == "assertraises":
		return called
	case head == "expect" && len(words) > 1 && (words[1] == "assertions" || words[1] == "extend" || words[1] == "hasassertions"):
		return false
	case head == "expect", head == "assert", head == "assertthat", head == "should", head == "require" && len(words) > 1 && p.l.name == "go", head == "is" && len(words) > 1 && called:
		return called || p.l.name == "ruby"
	case p.l.name == "script" && (head == "t" || head == "test" || head == "assert" || head == "tap" || head == "qunit") && len(words) == 2 && called:
		return slices.Contains([]string{"is", "not", "deepequal", "equal", "equals", "notequal", "same", "true", "false", "truthy", "falsy", "throws", "throwsasync", "regex", "match", "snapshot", "like", "ok", "notok", "strictequal", "deepstrictequal", "isequal", "rejects", "error", "iferror"}, last)
	case p.l.name == "rust" && strings.HasPrefix(head, "assert"), p.l.name == "rust" && strings.HasPrefix(head, "debug_assert"):
		return true
	case p.l.name == "ruby" && (strings.HasPrefix(head, "assert") || strings.HasPrefix(head, "refute")):
		return p.toks[i].lead
	case slices.Contains(words[1:], "should") || slices.ContainsFunc(words[1:], func(w string) bool {
		return strings.HasPrefix(w, "assert") || strings.HasPrefix(w, "must") && p.l.name == "ruby"
	}):
		return called || p.l.name == "ruby"
	case p.l.name == "go" && (head == "c" || head == "qt" || head == "check") && (last == "assert" || last == "check"):
		return called
	}
	statement := p.toks[i].lead || p.is(i-1, ";") || p.is(i-1, "{") || p.is(i-1, "await")
	if p.l.name == "script" && called && statement && slices.Contains(words[1:], "expect") {
		return true // request(app).get("/").expect(200).end(done)
	}
	return called && statement && starts(last) && !slices.Contains(words, "require")
}

// call reads what a chain of calls asserts.
func (p *parsed) call(i, end int, words []string, args []int) {
	word := strings.Join(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "self" || w == "this" || w == "await" || w == "to" || w == "resolves" }), ".")
	says, strength, operands := meaning(p.l, words)
	from := i + 1
	if len(args) > 0 {
		from = args[0]
	}
	// assertTrue(a == b) is what assert a == b is.
	if (says == saysTrue || says == saysFalse) && len(args) > 0 {
		if list := p.operands(args[0], 1); len(list) > 0 && p.compares(list[0]) {
			n := len(p.unitAt(i).checks)
			p.conditions(i, end, list[0][0], list[0][1], says == saysFalse)
			if len(p.unitAt(i).checks) > n {
				return
			}
		}
	}
	c := p.make(i, end, from, end, says, word)
	c.strength = min(c.strength, strength)
	if len(args) == 1 && end == p.close(args[0]) {
		list := p.operands(args[0], operands)
		c.lits = nil
		var key strings.Builder
		key.WriteString(says + " " + word)
		idle := true
		for _, a := range list {
			part := p.make(i, end, a[0], a[1], says, "")
			key.WriteString(", " + strings.TrimPrefix(part.key, says+"  "))
			c.lits = append(c.lits, part.lits...)
			idle = idle && (part.strength == 0 || p.isTester(a))
		}
		slices.Sort(c.lits)
		c.key = key.String()
		if c.strength = min(strengths[says], strength); idle && len(list) > 0 && list[0][0] < list[0][1] && !strings.Contains(word, "fail") {
			c.strength = 0
		} else if (says == saysTrue || says == saysFalse) && len(c.lits) > 0 {
			c.strength = 2
		}
		if n := len(list); operands == 2 && n >= 2 && joined(p.toks[list[n-2][0]:list[n-2][1]], "") == joined(p.toks[list[n-1][0]:list[n-1][1]], "") {
			c.strength = 0
		}
	}
	if len(args) == 2 && words[0] == "expect" && p.close(args[1]) == end && end-1 > args[1] { // expect(x).toBe(x), not cut off
		a, b := p.toks[args[0]+1:p.close(args[0])-1], p.toks[args[1]+1:end-1]
		if len(a) > 0 && joined(a, "") == joined(b, "") {
			c.strength = 0
		}
	}
	p.raised(&c, words, args)
	if key := p.makeover(words, args, end); key != "" {
		c.key = key
	}
	c.trivial()
	u := p.unitAt(i)
	u.checks = append(u.checks, c)
}

// isTester reports whether an argument is the test itself, as Go's libraries take it.
func (p *parsed) isTester(a [2]int) bool {
	return p.l.name == "go" && a[1] == a[0]+1 && slices.Contains([]string{"t", "b", "tb", "f"}, p.toks[a[0]].text)
}

// compares reports whether an argument is a comparison.
func (p *parsed) compares(a [2]int) bool {
	for i := a[0]; i < a[1]; i++ {
		if end, ok := p.pairs[i]; ok && end > i {
			i = end
			continue
		}
		if p.toks[i].kind != text {
			switch p.toks[i].text {
			case "==", "===", "!=", "!==", "in", "is", "<", ">", "<=", ">=", "and", "or", "&&", "||":
				return p.toks[i].kind != ident || p.l.name == "python"
			}
		}
	}
	return false
}

// operands are the arguments of a call that it compares: what follows is a message for people.
func (p *parsed) operands(open, most int) [][2]int {
	list := p.arguments(open)
	if len(list) > 0 && p.isTester(list[0]) {
		most++
	}
	out := list[:min(len(list), most)]
	for _, a := range list[len(out):] {
		named := p.is(a[0]+1, "=") && !p.is(a[0], "msg") && !p.is(a[0], "message")
		if named || p.toks[a[0]].kind == number {
			out = append(out[:len(out):len(out)], a)
		}
	}
	return out
}

// meaning says what the names of an assertion assert, how strongly, and about how many operands.
func meaning(l *language, words []string) (says string, strength, operands int) {
	not := false
	verb := ""
	for n, w := range words {
		switch w {
		case "not", "nottt", "tonot", "notto", "never":
			not = true
		case "expect", "assert", "assertions", "require", "should", "to", "be", "been", "is", "that", "self", "this", "resolves", "rejects", "assertthat", "t", "test", "tap", "and", "with", "have", "deep", "must", "check", "c", "qt":
			if n == len(words)-1 && verb == "" {
				verb = w
			}
		default:
			verb = w
		}
	}
	verb = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(verb, "debug"), "assert"), "must"), "to"), "should")
	if strings.HasPrefix(verb, "refute") {
		not, verb = true, strings.TrimPrefix(verb, "refute")
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(verb, s) })
	}
	exact := func(parts ...string) bool { return slices.Contains(parts, verb) }
	for _, no := range []string{"isnot", "not"} { // assertIsNotNone, NotEqual
		if rest, ok := strings.CutPrefix(verb, no); ok && rest != "" && !strings.HasPrefix(rest, "e") || ok && strings.HasPrefix(rest, "equal") || ok && strings.HasPrefix(rest, "eq") || ok && strings.HasPrefix(rest, "empty") {
			not, verb = !not, rest
			break
		}
	}
	operands = 2
	switch {
	case exact("raises", "throws", "throw", "error", "isnone", "wraps"), has("raise", "throw", "error"):
		says, strength = saysOther, 2
		if exact("noerror", "iferror") {
			says, operands = saysNil, 1
		}
		if not || has("doesnot", "notraise") {
			return saysNil, 2, operands
		}
		if exact("error") {
			return saysNotNil, 1, 1
		}
		return says, strength, operands
	case has("almost", "closeto", "delta", "approx"):
		says, strength = saysEqual, 3
	case exact("nil", "null", "none", "isnone", "isnull", "isnil", "undefined", "benull", "beundefined", "benil", "empty", "isempty", "beempty"):
		says, strength, operands = saysNil, 2, 1
	case exact("defined", "bedefined", "exist", "exists", "present", "ispresent"):
		says, strength, operands = saysNotNil, 1, 1
	case exact("true", "istrue", "betruthy", "truthy", "ok", "betrue", "", "assert", "should", "must", "be", "expect", "check", "that"):
		says, strength, operands = saysTrue, 1, 1
		if exact("be") && len(words) > 1 { // Should().Be(3), expect(x).toBe(3) is cut to it
			says, strength, operands = saysEqual, 3, 2
		}
	case exact("false", "isfalse", "befalsy", "falsy", "notok", "befalse", "isnottrue"):
		says, strength, operands = saysFalse, 1, 1
	case exact("differs", "ne", "notsame"):
		says, strength = saysDiffers, 1
	case has("greater", "less"): // and GreaterEqual
		says, strength = saysCompares, 2
	case has("equal", "same", "snapshot", "calledwith", "deepeq", "jsoneq", "identical"), exact("be", "eq", "eql", "is", "isequalto", "equals", "cmp", "containsexactly", "matchobject", "matches"):
		says, strength = saysEqual, 3
	case has("above", "below", "between", "atleast", "atmost", "within"):
		says, strength = saysCompares, 2
	default:
		says, strength, operands = saysOther, 2, 9
	}
	if not {
		says = map[string]string{saysEqual: saysDiffers, saysDiffers: saysEqual, saysNil: saysNotNil, saysNotNil: saysNil, saysTrue: saysFalse, saysFalse: saysTrue,
			saysCompares: saysCompares, saysOther: saysOther}[says]
		if strength = strengths[says]; says == saysOther {
			strength = 1
		}
	}
	return says, strength, operands
}
