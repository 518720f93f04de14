package report

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/session"
)

// tapParser reads the Test Anything Protocol (versions 12 to 14), as Bats, prove, tape, AVA and many others print it.
// Subtests, indented by four, are "test > subtest". A test without a description is named by its number.
type tapParser struct {
	r      *Report
	at     Place
	level  []tapLevel
	yaml   bool
	said   *quote
	quotes []*quote // what failing tests print, which stands behind their lines
	tape   bool     // "TAP version 13": a comment before results may be the name of their test
	group  string   // that name
	after  bool     // the last line was a failing test or about one
	plan   int      // -1: none
	loads  []tapLoad
	fault  *quote // an error outside of all tests, for whose file AVA says next that it ended
	tests  int    // at the top
}

// tapLevel is one depth of subtests.
type tapLevel struct {
	seen   map[string]int
	inside []tapTest // results whose parent's own line is still to come
	n      int
}

type tapTest struct {
	name   []string
	status session.TestStatus
	text   *quote
}

// maxTAPHeld bounds the results that wait for the line of their parent.
const maxTAPHeld = 20_000

func newTAPParser(at Place) *tapParser {
	return &tapParser{r: New(), at: at, plan: -1, level: []tapLevel{{seen: map[string]int{}}}}
}

var tapRE = sync.OnceValue(func() (r struct{ test, directive, plan, thrown lineForm }) {
	r.test = newLineForm("ok", `^(not )?ok\b *(\d+)? *(?:- +)?(.*)$`)
	r.directive = newLineForm("#", `(?i)^(.*?)(?:^| )#\s*(todo|skip(?:ped)?|time)\b.*$`)
	r.thrown = newLineForm("Error", `^\w*Error(?: \[\w+\])?: `)
	r.plan = newLineForm("1..", `^1\.\.(\d+)\s*(?:#.*)?$`)
	return r
})

func (p *tapParser) line(text string) {
	re := tapRE()
	trimmed := strings.TrimLeft(text, " ")
	depth := min((len(text)-len(trimmed))/4, 20)
	switch {
	case p.yaml:
		p.said.add(trimmed)
		if trimmed == "..." {
			p.yaml, p.after = false, false
		}
	case trimmed == "---":
		p.yaml = true
	case depth == 0 && strings.HasPrefix(text, "Bail out!"):
		p.r.Damaged = "the runner bailed out"
	case text == "TAP version 13":
		p.tape = true
	case strings.HasPrefix(trimmed, "#"):
		p.comment(depth, trimmed)
	case strings.HasPrefix(trimmed, "1"):
		if m := re.plan.find(trimmed); m != nil && depth == 0 {
			p.plan, _ = strconv.Atoi(m[1])
		}
	case strings.HasPrefix(trimmed, "ok"), strings.HasPrefix(trimmed, "not ok"):
		if m := re.test.find(trimmed); m != nil {
			p.test(depth, m)
		}
	}
}

// comment reads what tape prints before the assertions of a test, "# NAME". Elsewhere comments explain failures, say what
// subtest follows, or sum up.
func (p *tapParser) comment(depth int, text string) {
	name := strings.TrimSpace(strings.TrimPrefix(text, "#"))
	if strings.HasPrefix(name, "Subtest:") { // Node's runner names tests so; other comments are what the code printed
		p.group, p.tape = "", false
	}
	if depth > 0 || !p.tape || p.after || name == "" || p.plan >= 0 {
		p.said.add(text)
		return
	}
	p.group = testName(name)
}

func (p *tapParser) test(depth int, m []string) {
	name, status := m[3], session.TestPass
	if m[1] != "" {
		status = session.TestFail
	}
	if d := tapRE().directive.find(name); d != nil {
		name = d[1]
		if !strings.EqualFold(d[2], "time") {
			status = session.TestSkip
		}
	}
	name = strings.TrimSuffix(strings.TrimSpace(strings.ReplaceAll(name, `\#`, "#")), " {")
	if depth == 0 && bad(status) && p.loadFailure(name) {
		p.tests++
		return
	}
	for len(p.level) <= depth {
		p.level = append(p.level, tapLevel{seen: map[string]int{}})
	}
	here := &p.level[depth]
	here.n++
	if name == "" {
		name = "(" + strconv.Itoa(here.n) + ")"
	}
	if here.seen[name]++; here.seen[name] > 1 {
		name = fmt.Sprintf("%s#%d", name, here.seen[name])
	}
	t := tapTest{name: []string{testName(p.at.relative(name))}, status: status}
	if p.said = nil; bad(status) {
		p.said = &quote{}
	}
	t.text = p.said
	var below []tapTest
	if len(p.level) > depth+1 {
		below = p.level[depth+1].inside
		p.level = p.level[:depth+1]
	}
	if depth == 0 {
		p.tests++
		if p.after = bad(status); p.group != "" {
			t.name[0] = p.group // tape's tests have assertions without stable names; the worst of them counts
		}
		p.add(t, below)
		return
	}
	if len(below) == 0 || bad(status) && !anyBad(below) {
		below = append(below, t)
	} else {
		for i := range below {
			below[i].name = append([]string{t.name[0]}, below[i].name...)
		}
	}
	if here = &p.level[depth]; len(here.inside) < maxTAPHeld {
		here.inside = append(here.inside, below...)
	}
}

// loadFailure reports whether a line stands for a file that could not be loaded, or for the reason, rather than for a test:
// AVA says first what was thrown and then whose process ended, Node names the file.
func (p *tapParser) loadFailure(name string) bool {
	name = p.at.relative(name)
	file, _, ended := strings.Cut(name, " exited with a non-zero exit code")
	switch {
	case tapRE().thrown.find(name) != nil:
		p.fault = &quote{}
		p.fault.add(name)
		p.said = p.fault
		return true
	case ended && IsScript(file) || IsScript(name) && !strings.Contains(name, " "):
		if p.fault == nil {
			p.fault = &quote{}
			p.fault.add("test failed") // as in Node's JUnit: it has to be asked for the reason
		}
		p.loads = append(p.loads, tapLoad{file, p.fault})
		p.fault, p.said = nil, nil
		return true
	}
	return false
}

type tapLoad struct {
	file string
	why  *quote
}

func anyBad(list []tapTest) bool {
	for _, t := range list {
		if bad(t.status) {
			return true
		}
	}
	return false
}

// add records a test of the top, and those below it. A test that only sums up its subtests is none itself.
func (p *tapParser) add(t tapTest, below []tapTest) {
	if len(below) == 0 || bad(t.status) && !anyBad(below) {
		p.set(t)
	}
	for _, b := range below {
		b.name = append([]string{t.name[0]}, b.name...)
		p.set(b)
	}
}

func (p *tapParser) set(t tapTest) {
	id := session.TestID(testName(strings.Join(t.name, SuiteSep)))
	p.r.Set(id, t.status)
	if bad(t.status) {
		if _, ok := p.r.Messages[id]; !ok && len(p.r.Messages) < MaxFailures {
			t.text.id = id
			p.late(t.text)
		}
	}
}

// late keeps a place for what is printed behind a test's line.
func (p *tapParser) late(q *quote) {
	p.r.Messages[q.id] = ""
	p.quotes = append(p.quotes, q)
}

func (p *tapParser) finish() *Report {
	if p.fault != nil { // thrown outside of all tests, by nobody that is named
		p.r.Damaged = strings.SplitN(p.fault.text.String(), "\n", 2)[0]
	}
	for _, l := range p.loads {
		message := p.at.Without(strings.TrimSpace(l.why.text.String()))
		p.r.Breaks(Breakage{Unit: session.TestID(testName(l.file)), File: l.file, Missing: MissingInScript(message), Message: message})
	}
	for _, q := range p.quotes {
		p.r.Say(q.id, p.at.Without(q.text.String()))
	}
	switch {
	case p.plan < 0 && p.tests > 0:
		p.r.Damaged = "it has no plan (1..N)"
	case p.plan > p.tests:
		p.r.Damaged = fmt.Sprintf("%d of %d planned tests are missing", p.plan-p.tests, p.plan)
	}
	p.r.NoTests = p.r.NoTests || p.plan == 0
	return p.r
}
