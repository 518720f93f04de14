package tamper

import (
	"fmt"
	"slices"
	"strings"
)

// unit is a test, or a function beside tests. The one without a name holds what is in no function.
type unit struct {
	name  string
	test  bool
	line  int
	from  int // tokens, of the file
	to    int
	body  int // where its body begins
	table bool
	col   int
	exact string // its words, without layout and comments

	checks []check
	lits   map[string]int // texts and numbers beside checks
	rows   map[string]int // those of them that stand in lists, not as arguments
	calls  map[string]int // names that are called
	marks  []mark
}

// parsed is what this package sees in a source file.
type parsed struct {
	l      *language
	toks   []token
	units  []*unit
	owner  []int // of each token, an index of units
	pairs  map[int]int
	within []int          // of each token, what opens around it; -1: nothing
	starts []int          // of each token, the first of its line
	names  map[string]int // of units: how many have it
	// testers are names of units, and of what asserts in them by a name of its own.
	testers map[string]bool
	titles  runTitles
	around  map[int]string // what classOf found; nil until somebody asks
	work    int            // see tooDeep
}

// maxDepth bounds how often a token is looked at because of what it stands in, on average of a file.
const maxDepth = 64

// tooDeep reports whether so much of a file stands in each other that it cannot be looked through in a time that grows with
// its length. Its units are not known then: tests are not compared, and other code is read without them.
func (p *parsed) tooDeep() bool { return p != nil && p.work > maxDepth*len(p.toks)+1<<18 }

// parse reads a file of tests, or any other code. It never fails.
func parse(l *language, src []byte) *parsed {
	p := &parsed{l: l, toks: inlineConstants(l, scan(l, src))}
	p.pairs = matching(p.toks)
	p.enclose()
	p.starts = make([]int, len(p.toks))
	for i, t := range p.toks {
		if p.starts[i] = i; i > 0 && !t.lead {
			p.starts[i] = p.starts[i-1]
		}
	}
	p.names = map[string]int{}
	p.units = []*unit{{to: len(p.toks), lits: map[string]int{}, calls: map[string]int{}, rows: map[string]int{}}}
	switch l.name {
	case "python":
		p.pythonUnits()
	case "ruby":
		p.rubyUnits()
	case "script":
		p.scriptUnits()
	default:
		p.braceUnits()
	}
	if p.tooDeep() {
		p.units = p.units[:1]
	}
	p.own()
	p.findSuites()
	p.findChecks()
	p.findMarks()
	p.findTitles()
	p.findWords()
	return p
}

// enclose finds what opens around each token.
func (p *parsed) enclose() {
	p.within = make([]int, len(p.toks))
	var open []int
	for i := range p.toks {
		p.within[i] = -1
		if at, ok := p.pairs[i]; ok && at < i {
			for len(open) > 0 && open[len(open)-1] >= at {
				open = open[:len(open)-1]
			}
		}
		if len(open) > 0 {
			p.within[i] = open[len(open)-1]
		}
		if _, ok := p.pairs[i]; ok && p.pairs[i] > i {
			open = append(open, i)
		}
	}
}

// matching pairs what opens with what closes it.
func matching(toks []token) map[int]int {
	pairs := map[int]int{}
	var open []int
	left := map[string]int{} // how many of each are open
	for i, t := range toks {
		if t.kind != punct {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			open = append(open, i)
			left[t.text]++
		case ")", "]", "}":
			want := map[string]string{")": "(", "]": "[", "}": "{"}[t.text]
			for n := len(open) - 1; n >= 0 && left[want] > 0; n-- { // what was left open in between is skipped
				left[toks[open[n]].text]--
				if toks[open[n]].text == want {
					pairs[open[n]], pairs[i] = i, open[n]
					open = open[:n]
					break
				}
			}
		}
	}
	return pairs
}

func (p *parsed) is(i int, word string) bool {
	return i >= 0 && i < len(p.toks) && p.toks[i].text == word && p.toks[i].kind != text
}

// closes reports whether a token closes what was opened before.
func (p *parsed) closes(i int) bool { return p.is(i, ")") || p.is(i, "]") || p.is(i, "}") }

// opens reports whether a token opens what another closes.
func (p *parsed) opens(i int) bool {
	end, ok := p.pairs[i]
	return ok && end > i
}

func (p *parsed) isKind(i int, k kind) bool { return i >= 0 && i < len(p.toks) && p.toks[i].kind == k }

func (p *parsed) add(u *unit) {
	u.line, u.lits, u.calls = p.toks[u.from].line, map[string]int{}, map[string]int{}
	u.rows = map[string]int{}
	p.names[u.name]++
	if n := p.names[u.name]; n > 1 {
		u.name += fmt.Sprintf("%s%d", again, n)
	}
	p.units = append(p.units, u)
	p.work += u.to - u.from
}

// again stands between the name that several tests of a file have and a number.
const again = " again "

// ownName is the name of a unit as it is written.
func ownName(name string) string {
	if at := strings.LastIndex(name, again); at >= 0 {
		return name[:at]
	}
	return name
}

// close is the token after the one that closes what opens at i, or the end.
func (p *parsed) close(i int) int {
	if end, ok := p.pairs[i]; ok && end > i {
		return end + 1
	}
	return len(p.toks)
}

// braceUnits finds functions: a name, parameters, and a block.
func (p *parsed) braceUnits() {
	control := []string{"if", "for", "while", "switch", "catch", "return", "match", "loop", "foreach", "using", "lock", "synchronized", "when", "new", "else", "func", "try", "with"}
	for i := 0; i < len(p.toks) && !p.tooDeep(); i++ {
		if !p.isKind(i, ident) || slices.Contains(control, p.toks[i].text) {
			continue
		}
		marked := p.is(i-1, "func") || p.is(i-1, "fn") || p.is(i-1, "fun") || p.is(i-1, "function") || p.is(i-1, "def")
		if p.l.name == "go" && !marked && p.is(i-1, ")") { // a method
			if open, ok := p.pairs[i-1]; ok && p.is(open-1, "func") {
				marked = p.toks[open-1].lead
			}
		}
		typed := (p.l.name == "java" || p.l.name == "csharp") && (p.isKind(i-1, ident) && !slices.Contains(control, p.toks[i-1].text) || p.is(i-1, ">") || p.is(i-1, "]"))
		open := i + 1
		if marked || p.is(open, "<") {
			open = p.behindTypes(open)
		}
		if !marked && !typed || !p.is(open, "(") {
			continue
		}
		at := p.close(open)
		for n := 0; at < len(p.toks) && n < 40 && !p.is(at, "{") && !p.is(at, ";") && !p.is(at, "}") && !p.is(at, "="); n++ {
			if p.is(at, "(") || p.is(at, "[") {
				at = p.close(at)
				continue
			}
			at++
		}
		if !p.is(at, "{") {
			continue
		}
		name := p.toks[i].text
		before := p.marksBefore(i)
		test := strings.HasPrefix(name, "Test") && p.l.name == "go" && name != "TestMain" || (strings.HasPrefix(name, "Fuzz") || isExample(name)) && p.l.name == "go" || strings.HasPrefix(strings.ToLower(name), "test") && p.l.name != "go" ||
			slices.ContainsFunc(p.toks[before:i], func(t token) bool {
				return slices.Contains([]string{"Test", "ParameterizedTest", "RepeatedTest", "Fact", "Theory", "TestCase", "TestMethod", "test", "rstest"}, t.text)
			})
		p.add(&unit{name: name, test: test, from: before, to: p.close(at), body: at, col: p.toks[i].col})
	}
}

// maxTypes bounds how many tokens the parameters of types of a function may have.
const maxTypes = 80

// behindTypes is the token behind parameters or arguments of types, as functions and calls have them behind their names:
// [T any], <T extends U>, ::<T>. Where there are none it is the token itself.
func (p *parsed) behindTypes(at int) int {
	i, depth := at, 0
	if p.is(i, "::") {
		i++
	}
	if p.is(i, "[") && p.l.name == "go" {
		return p.close(i)
	}
	for end := min(len(p.toks), i+maxTypes); i < end; i++ {
		switch {
		case p.is(i, "<"):
			depth++
		case p.is(i, ">"):
			if depth--; depth == 0 {
				return i + 1
			}
		case p.is(i, ";"), depth == 0:
			return at
		case p.opens(i):
			i = p.close(i) - 1
		}
	}
	return at
}

// marksBefore is where the attributes and annotations of a function begin.
func (p *parsed) marksBefore(i int) int {
	if p.l.name == "go" {
		return p.lineStart(i)
	}
	for i > 0 && !p.is(i-1, "}") && !p.is(i-1, ";") && !p.is(i-1, "{") {
		i--
	}
	return i
}

// pythonUnits finds definitions, with their decorators.
func (p *parsed) pythonUnits() {
	for i, t := range p.toks {
		if t.text != "def" || t.kind != ident || !p.isKind(i+1, ident) || p.tooDeep() {
			continue
		}
		from := i
		if p.is(i-1, "async") {
			from = i - 1
		}
		col := p.toks[from].col
		to := i + 2
		for ; to < len(p.toks) && !(p.toks[to].lead && p.toks[to].kind != newline && p.toks[to].col <= col && !p.closes(to)); to++ {
		}
		for at := from - 1; at >= 0; at-- { // decorators are lines that begin with @ at the same column
			if p.toks[at].lead && p.toks[at].kind != newline {
				if p.is(at, "@") && p.toks[at].col == col {
					from = at
				} else if p.toks[at].col <= col && !p.closes(at) {
					break
				}
			}
		}
		body := i + 2
		if p.is(body, "(") {
			body = p.close(body)
		}
		name := p.toks[i+1].text
		p.add(&unit{name: name, test: strings.HasPrefix(name, "test"), from: from, to: to, body: body, col: col})
	}
}

// rubyUnits finds definitions and examples, to the `end` below them.
func (p *parsed) rubyUnits() {
	for i, t := range p.toks {
		if t.kind != ident || !t.lead || p.tooDeep() {
			continue
		}
		name, test := "", false
		switch t.text {
		case "def":
			if p.isKind(i+1, ident) {
				name = p.toks[i+1].text
				test = strings.HasPrefix(name, "test")
			}
		case "it", "test", "specify", "scenario", "should", "example", "xit", "fit":
			at := i + 1
			if p.is(at, "(") {
				at++
			}
			if p.isKind(at, text) {
				name, test = p.toks[at].text, true
			}
		}
		if name == "" {
			continue
		}
		to := i + 1
		for ; to < len(p.toks) && !(p.toks[to].lead && p.toks[to].col <= t.col && p.toks[to].kind != newline); to++ {
		}
		if p.is(to, "end") {
			to++
		}
		p.add(&unit{name: name, test: test, from: i, to: to, body: i + 1, col: t.col})
	}
}

// own says which unit each token belongs to: the innermost.
func (p *parsed) own() {
	p.owner = make([]int, len(p.toks))
	size := func(n int) int { return p.units[n].to - p.units[n].from }
	order := make([]int, len(p.units))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return size(b) - size(a) })
	for _, n := range order {
		for i := p.units[n].from; i < p.units[n].to; i++ {
			p.owner[i] = n
		}
	}
	for _, u := range p.units[1:] {
		u.exact = joined(p.toks[u.from:u.to], u.name)
	}
}

// joined is a row of tokens as one text, without what formatters add and take away, and with "_" for a name.
func joined(toks []token, name string) string {
	var b strings.Builder
	for i, t := range toks {
		switch {
		case t.kind == newline, t.kind == punct && t.text == ";":
			continue
		case t.kind == punct && t.text == "," && i+1 < len(toks) && toks[i+1].kind == punct && (toks[i+1].text == ")" || toks[i+1].text == "]" || toks[i+1].text == "}"):
			continue
		case t.kind == text:
			if t.text == name {
				b.WriteString("'_' ")
				continue
			}
			b.WriteString("'" + t.text + "' ")
		case t.text == name:
			b.WriteString("_ ")
		default:
			b.WriteString(t.text + " ")
		}
	}
	return b.String()
}

func (p *parsed) unitAt(i int) *unit { return p.units[p.owner[i]] }
