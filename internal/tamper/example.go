package tamper

import (
	"slices"
	"strings"
)

// outputMark is the token before the text that an example of Go must print. No word of the language is written so.
const outputMark = "// Output:"

// output takes a line of a comment that says what an example of Go must print, or goes on saying it.
func (s *scanner) output(comment string) {
	said := strings.TrimRight(strings.TrimPrefix(comment, "//"), " \t\r")
	if n := len(s.out); n > 1 && s.out[n-2].text == outputMark && s.outputEnds == s.line-1 {
		s.out[n-1].text = strings.TrimSpace(s.out[n-1].text + "\n" + strings.TrimPrefix(said, " "))
		s.outputEnds = s.line
		return
	}
	low := strings.ToLower(strings.TrimSpace(said))
	unordered := strings.HasPrefix(low, "unordered output:")
	if !unordered && !strings.HasPrefix(low, "output:") || !s.inExample() {
		return
	}
	_, want, _ := strings.Cut(said, ":")
	if want = strings.TrimSpace(want); unordered {
		want = strings.TrimSpace("(in any order) " + want)
	}
	s.add(ident, outputMark, s.at)
	s.add(text, want, s.at)
	s.outputEnds = s.line
}

// inExample reports whether the function that began last at the margin is an example, and goes on.
func (s *scanner) inExample() bool {
	for i, t := range slices.Backward(s.out) {
		if t.col == 0 && t.lead && t.kind == punct && t.text == "}" {
			return false
		}
		if t.col == 0 && t.text == "func" && t.kind == ident {
			return i+1 < len(s.out) && isExample(s.out[i+1].text)
		}
	}
	return false
}

// isExample reports whether a function of Go is an example by its name.
func isExample(name string) bool { return strings.HasPrefix(name, "Example") }

// printed takes what an example must print for what it asserts.
func (p *parsed) printed(i int) {
	c := p.make(i, i+2, i+1, i+2, saysEqual, "output")
	c.strength = strengths[saysEqual]
	u := p.unitAt(i)
	u.checks = append(u.checks, c)
}
