package tamper

import (
	"slices"
	"strings"
)

// mark is something in a test file by which a test is not run, or cannot fail.
type mark struct {
	kind Kind
	says string // as it is written
	line int
}

// findMarks finds what keeps tests from running or failing.
func (p *parsed) findMarks() {
	for i := range p.toks {
		u := p.unitAt(i)
		put := func(k Kind, to int) {
			u.marks = append(u.marks, mark{kind: k, says: shown(p.toks[i:min(max(to, i+1), len(p.toks))]), line: p.toks[i].line})
		}
		if p.toks[i].kind != ident {
			if p.is(i, "@") && (p.l.name == "python" || p.l.name == "java") {
				end := i + 1
				for end < len(p.toks) && end < i+8 && (p.isKind(end, ident) || p.is(end, ".")) {
					end++
				}
				if slices.ContainsFunc(p.toks[i:end], func(t token) bool {
					return slices.Contains([]string{"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure", "Disabled", "Ignore", "DisabledIf", "DisabledOnOs", "EnabledIf", "EnabledIfEnvironmentVariable"}, t.text)
				}) {
					put(Skipped, end)
				}
			}
			if p.is(i, "#") && p.is(i+1, "[") && (p.is(i+2, "ignore") || p.is(i+2, "should_panic")) {
				put(Skipped, i+4)
			}
			continue
		}
		word := p.toks[i].text
		called := p.is(i+1, "(")
		switch p.l.name {
		case "go":
			switch {
			case called && p.is(i-1, ".") && (word == "Skip" || word == "Skipf" || word == "SkipNow") && p.isKind(i-2, ident) && len(p.toks[i-2].text) <= 2:
				put(Skipped, p.close(i+1))
			case called && word == "recover" && u.name != "":
				put(Swallowed, i+3)
			case called && word == "Exit" && p.is(i-2, "os") && !p.is(i+2, "m") && u.name != "":
				if p.isKind(i+2, number) && p.toks[i+2].text == "0" {
					put(Exits, p.close(i+1))
				}
			}
		case "python":
			switch {
			case called && (word == "skip" || word == "xfail" || word == "skipTest" || word == "importorskip") && p.is(i-1, "."), word == "SkipTest":
				put(Skipped, i+2)
			case word == "pytestmark" || word == "collect_ignore" || word == "collect_ignore_glob" || word == "__test__":
				put(Skipped, i+6)
			case called && (word == "_exit" || word == "exit") && (p.is(i-2, "os") || p.is(i-2, "sys")):
				put(Exits, p.close(i+1))
			case word == "except" && u.test && swallowsPython(p, i), called && word == "suppress" && u.test:
				put(Swallowed, i+4)
			}
		case "script":
			p.scriptMarks(i, put)
		case "ruby":
			if (word == "skip" || word == "pending") && p.toks[i].lead || word == "xit" || word == "xdescribe" || word == "xcontext" {
				put(Skipped, i+2)
			}
			if word == "fit" && p.toks[i].lead || word == "fdescribe" || word == "fcontext" || word == "focus" {
				put(Only, i+2)
			}
		case "csharp":
			if p.is(i-1, "[") && (word == "Ignore" || word == "Explicit") || word == "Skip" && p.is(i+1, "=") {
				put(Skipped, i+3)
			}
		case "php":
			if word == "markTestSkipped" || word == "markTestIncomplete" || word == "expectNotToPerformAssertions" {
				put(Skipped, i+2)
			}
		}
		if u.test && p.mocks(i, u) {
			put(Patched, i+6)
		}
		if (word == "if" || word == "while") && u.test && p.never(i) {
			put(Dead, i+4)
		}
		if word == "return" && u.test && p.endsEarly(i, u) {
			put(Returns, i+1)
		}
	}
}

func (p *parsed) scriptMarks(i int, put func(Kind, int)) {
	word := p.toks[i].text
	suites := []string{"it", "test", "describe", "suite", "context", "specify", "bench", "concurrent", "each", "serial", "sequential"}
	switch word {
	case "skip", "todo", "failing", "fails", "skipIf", "runIf":
		if p.is(i-1, ".") && p.isKind(i-2, ident) && (slices.Contains(suites, p.toks[i-2].text) || (p.is(i-2, "t") || p.is(i-2, "this") || p.is(i-2, "ctx")) && p.is(i+1, "(")) {
			put(Skipped, i+1)
		} else if p.is(i+1, ":") && p.is(i-1, "{") && !p.is(i+2, "false") {
			put(Skipped, i+3)
		}
	case "only":
		if p.is(i-1, ".") && p.isKind(i-2, ident) && slices.Contains(suites, p.toks[i-2].text) {
			put(Only, i+1)
		} else if p.is(i+1, ":") && p.is(i-1, "{") && p.is(i+2, "true") {
			put(Only, i+3)
		}
	case "xit", "xtest", "xdescribe", "xcontext":
		if p.is(i+1, "(") {
			put(Skipped, i+1)
		}
	case "fit", "fdescribe":
		if p.is(i+1, "(") {
			put(Only, i+1)
		}
	case "catch":
		at := i + 1
		if p.is(at, "(") {
			at = p.close(at)
		}
		if arrow := i + 2; p.is(i-1, ".") { // .catch(() => {})
			if p.is(arrow, "(") {
				arrow = p.close(arrow)
			} else {
				arrow++
			}
			if p.is(arrow, "=>") && p.is(arrow+1, "{") && p.is(arrow+2, "}") && p.unitAt(i).test {
				put(Swallowed, arrow+3)
			}
		}
		if p.is(at, "{") && p.is(at+1, "}") && p.unitAt(i).test && !p.is(i-1, ".") {
			put(Swallowed, at+2)
		}
	case "exit":
		if p.is(i-2, "process") && p.is(i+1, "(") {
			put(Exits, p.close(i+1))
		}
	}
}

// mocks reports whether a test puts something in the place of a function that it calls itself.
func (p *parsed) mocks(i int, u *unit) bool {
	called := func(name string) bool {
		for at := u.from; at < u.to; at++ {
			if p.is(at, name) && p.is(at+1, "(") && at != i {
				return true
			}
		}
		return false
	}
	word := p.toks[i].text
	switch {
	case p.is(i-1, ".") && p.is(i+1, "=") && !p.is(i-2, "self") && !p.is(i-2, "this"):
		return called(word)
	case (word == "patch" || word == "setattr" || word == "object") && p.is(i+1, "("):
		for at := i + 2; at < p.close(i+1); at++ {
			if t := p.toks[at]; t.kind == text && t.text != "" && p.l.name == "python" {
				return called(t.text[strings.LastIndexByte(t.text, '.')+1:])
			}
		}
	}
	return false
}

// swallowsPython reports whether what an except clause catches is passed over.
func swallowsPython(p *parsed, i int) bool {
	for at := i + 1; at < len(p.toks) && at < i+20; at++ {
		if p.is(at, ":") {
			for at++; p.isKind(at, newline); at++ {
			}
			return p.is(at, "pass") || p.is(at, "return") || p.is(at, "...")
		}
	}
	return false
}

// never reports whether a condition is written down as never true, or as always true and leads to a return.
func (p *parsed) never(i int) bool {
	at := i + 1
	for p.is(at, "(") {
		at++
	}
	if at >= len(p.toks) || !isLiteral(p.toks[at]) || p.toks[at].kind == text {
		return false
	}
	next := at + 1
	for p.is(next, ")") {
		next++
	}
	if !p.is(next, "{") && !p.is(next, ":") && !p.is(next, "&&") && !p.is(next, "and") {
		return false
	}
	word := strings.ToLower(p.toks[at].text)
	return word == "false" || word == "0" || isNothing(p.toks[at]) || p.is(next+1, "return") || p.isKind(next+1, newline) && p.is(next+2, "return")
}

// endsEarly reports whether a test ends, whatever happened, before its last assertion.
func (p *parsed) endsEarly(i int, u *unit) bool {
	if next := i + 1; next < len(p.toks) && p.toks[next].line == p.toks[i].line && !p.is(next, ";") && !p.is(next, "}") && p.toks[next].kind != newline {
		return false
	}
	if p.l.name == "python" || p.l.name == "ruby" {
		first := u.body
		for ; first < u.to && (!p.toks[first].lead || p.toks[first].kind == newline); first++ {
		}
		if first >= u.to || !p.toks[i].lead || p.toks[i].col != p.toks[first].col {
			return false
		}
	} else {
		depth := 0
		for at := p.within[i]; at >= u.from; at = p.within[at] {
			if p.is(at, "{") {
				depth++
			}
		}
		if depth != 1 || !p.is(i-1, ";") && !p.is(i-1, "{") && !p.is(i-1, "}") && !p.toks[i].lead {
			return false
		}
		if before := i - 1; p.is(before, ")") { // if (x) return
			if open, ok := p.pairs[before]; ok && (p.is(open-1, "if") || p.is(open-1, "while")) {
				return false
			}
		}
	}
	return slices.ContainsFunc(u.checks, func(c check) bool { return c.from > i })
}

// shown is a row of tokens for people, as short as a line.
func shown(toks []token) string {
	var b strings.Builder
	for i, t := range toks {
		word := t.text
		if t.kind == newline {
			continue
		}
		if t.kind == text {
			word = "\"" + word + "\""
		}
		if i > 0 && !glued(toks[i-1], t) {
			b.WriteByte(' ')
		}
		if b.WriteString(word); b.Len() > maxShown {
			break
		}
	}
	s := strings.Join(strings.Fields(b.String()), " ")
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown-1]) + "…"
	}
	return s
}

// maxShown is how many characters of code a finding shows.
const maxShown = 100

func glued(a, b token) bool {
	tight := func(t token, words string) bool { return t.kind == punct && strings.Contains(words, t.text) }
	return tight(b, ".),]:;@#!?") || tight(a, ".([@#!") || b.kind == punct && (b.text == "(" || b.text == "[") && a.kind == ident
}
