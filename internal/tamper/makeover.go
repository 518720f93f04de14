package tamper

import (
	"slices"
	"strings"
)

// matchersOf are what linters write for a comparison that is expected to be true.
var matchersOf = map[string]string{">": "tobegreaterthan", ">=": "tobegreaterthanorequal", "<": "tobelessthan", "<=": "tobelessthanorequal", "===": "tobe"}

// makeover is what an expectation of Jest or Vitest says, however it is written: linters replace a comparison by the
// matcher that means the same. "" for all others.
func (p *parsed) makeover(words []string, args []int, end int) string {
	if p.l.name != "script" || len(args) != 2 || words[0] != "expect" || p.close(args[1]) != end {
		return ""
	}
	on, put := p.arguments(args[0]), p.arguments(args[1])
	if len(on) != 1 || len(put) > 1 {
		return ""
	}
	matcher, subject := words[len(words)-1], on[0]
	said := func(a [2]int) string { return strings.TrimSpace(p.make(a[0], a[1], a[0], a[1], "", "").key) }
	var want string
	if len(put) == 1 {
		want = said(put[0])
	}
	equal := matcher == "tobe" || matcher == "toequal" || matcher == "tostrictequal"
	ends := func(names ...string) bool {
		from := subject[1] - 2*len(names)
		for n, name := range names {
			if from < subject[0] || !p.is(from+2*n, ".") || !p.is(from+2*n+1, name) {
				return false
			}
		}
		return true
	}
	switch {
	case equal && ends("mock", "calls", "length"), matcher == "tohavelength" && ends("mock", "calls"):
		matcher, subject[1] = "tohavebeencalledtimes", subject[1]-4
		if equal {
			subject[1] -= 2
		}
	case equal && ends("length"):
		matcher, subject[1] = "tohavelength", subject[1]-2
	case equal && len(put) == 1 && put[0][1] == put[0][0]+1 && (p.is(put[0][0], "undefined") || p.is(put[0][0], "null")):
		matcher, want = "tobe"+p.toks[put[0][0]].text, ""
	case equal && want == "true":
		for at := subject[0]; at < subject[1]; at++ {
			if close := p.pairs[at]; close > at {
				at = close
				continue
			}
			if other := matchersOf[p.toks[at].text]; other != "" && p.toks[at].kind == punct && !p.combines(subject) {
				matcher, want, subject = other, said([2]int{at + 1, subject[1]}), [2]int{subject[0], at}
				break
			}
		}
	}
	not := ""
	if slices.Contains(words, "not") {
		not = "not "
	}
	return "expect " + not + said(subject) + " " + matcher + " " + want
}

// combines reports whether some tokens are several conditions.
func (p *parsed) combines(a [2]int) bool {
	return slices.ContainsFunc(p.toks[a[0]:a[1]], func(t token) bool {
		return t.kind == punct && (t.text == "&&" || t.text == "||" || t.text == "?" || t.text == "??" || t.text == "=>")
	})
}
