package tamper

import (
	"slices"
	"strings"
)

// testifyNames are what asserts in testify, in lower case and without the f of those that take a format.
var testifyNames = []string{
	"condition", "contains", "notcontains", "direxists", "elementsmatch", "notelementsmatch", "empty", "notempty", "equal", "notequal", "equalerror", "equalexportedvalues", "equalvalues", "notequalvalues",
	"error", "noerror", "erroras", "errorcontains", "erroris", "noterroris", "eventually", "exactly", "fail", "failnow", "false", "true", "fileexists", "greater", "greaterorequal", "less", "lessorequal",
	"implements", "indelta", "inepsilon", "isdecreasing", "isincreasing", "istype", "jsoneq", "len", "negative", "positive", "never", "nil", "notnil", "panics", "notpanics", "panicswitherror",
	"panicswithvalue", "regexp", "notregexp", "same", "notsame", "subset", "notsubset", "withinduration", "yamleq", "zero", "notzero",
}

// findSuites finds what asserts in Go by a name of its own: the receivers of suites, and what New of a library of assertions
// returned or a function takes.
func (p *parsed) findSuites() {
	p.testers = map[string]bool{}
	if p.l.name != "go" {
		return
	}
	receiver := func(u *unit) (name, of string) { // func (s *Suite) TestX()
		if p.is(u.from, "func") && p.is(u.from+1, "(") && p.isKind(u.from+2, ident) {
			at := u.from + 3
			if p.is(at, "*") {
				at++
			}
			if p.isKind(at, ident) && p.is(at+1, ")") {
				return p.toks[u.from+2].text, p.toks[at].text
			}
		}
		return "", ""
	}
	suites := map[string]bool{}
	for _, u := range p.units[1:] {
		if _, of := receiver(u); of != "" && u.test && strings.HasPrefix(u.name, "Test") {
			suites[of] = true
		}
	}
	for _, u := range p.units[1:] {
		if name, of := receiver(u); suites[of] {
			p.testers[u.name+"\x00"+name] = true
		}
		for i := u.from; i < u.to; i++ {
			switch {
			case !p.isKind(i, ident):
			case p.is(i+1, ":=") && (p.is(i+2, "assert") || p.is(i+2, "require")) && p.is(i+3, ".") && p.is(i+4, "New"),
				p.is(i+1, ":=") && p.near(i+2, i+5, "NewWithT", "NewGomegaWithT", "NewGomega"),
				p.is(i+1, "*") && (p.is(i+2, "assert") || p.is(i+2, "require")) && p.is(i+4, "Assertions"),
				p.is(i+1, "*") && p.isKind(i+2, ident) && suites[p.toks[i+2].text] && p.within[i] >= 0:
				p.testers[u.name+"\x00"+p.toks[i].text] = true
			}
		}
	}
}

// ofSuite cuts what asserts off a chain of calls, and what it is asked for first: s.Require().Equal(…) is assert.Equal(…).
// ok is false for other chains.
func (p *parsed) ofSuite(i int, words []string, args []int) (_ []string, _ []int, ok bool) {
	if len(words) < 2 || len(args) == 0 || !p.testers[p.unitAt(i).name+"\x00"+p.toks[i].text] {
		return nil, nil, false
	}
	rest := words[1:]
	if (rest[0] == "require" || rest[0] == "assert") && len(rest) > 1 && len(args) > 1 {
		rest, args = rest[1:], args[1:]
	}
	switch last := rest[0]; {
	case last == "expect":
		return rest, args, true
	case len(rest) == 1 && (slices.Contains(testifyNames, last) || slices.Contains(testifyNames, strings.TrimSuffix(last, "f"))):
		return []string{"assert", last}, args, true
	}
	return nil, nil, false
}
