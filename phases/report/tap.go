package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// tapTests reads output in the Test Anything Protocol (versions 12 to 14), which Bats, prove, tape, AVA and many
// others print. A subtest, indented by four spaces, gets the name "test > subtest". A test without a description is
// named by its number.
type tapTests struct {
	results
	inside []tapTest // subtests whose parent has not been printed yet
	yaml   bool
	quotes []*quote // output of failing tests
	tape   bool     // set after "TAP version 13": a comment may then be the name of a test
	group  string   // name of the current test, from the comment
	after  bool     // the last line was that of a failing test, or output of it
	plan   int      // planned number of tests; -1 if there is no plan
	loads  []tapLoad
	fault  *quote // an error outside of all tests, until AVA's next line names its file
	tests  int    // number of tests at the top level
}

type tapTest struct {
	depth  int
	name   string
	status session.TestStatus
	text   *quote
}

// tapLoad is a file that could not be loaded.
type tapLoad struct {
	file string
	why  *quote
}

var (
	tapLine      = newForm("ok", `^(not )?ok\b *(\d+)? *(?:- +)?(.*)$`)
	tapDirective = newForm("#", `(?i)^(.*?)(?:^| )#\s*(todo|skip(?:ped)?|time)\b.*$`)
	tapThrown    = newForm("Error", `^\w*Error(?: \[\w+\])?: `)
	tapPlan      = newForm("1..", `^1\.\.(\d+)\s*(?:#.*)?$`)
)

func (p *tapTests) line(text string) {
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
	case strings.HasPrefix(text, "Bail out!"):
		p.Damaged = "the runner bailed out"
	case text == "TAP version 13":
		p.tape = true
	case strings.HasPrefix(trimmed, "#"):
		p.comment(depth, trimmed)
	case strings.HasPrefix(text, "1"):
		if m := tapPlan.find(text); m != nil {
			p.plan, _ = strconv.Atoi(m[1])
		}
	case strings.HasPrefix(trimmed, "ok"), strings.HasPrefix(trimmed, "not ok"):
		if m := tapLine.find(trimmed); m != nil {
			p.test(depth, m)
		}
	}
}

// comment reads a line that begins with "#". tape prints the name of a test in this way, before the test's assertions.
// Other comments belong to a failure, announce a subtest, or are a summary.
func (p *tapTests) comment(depth int, text string) {
	name := strings.TrimSpace(strings.TrimPrefix(text, "#"))
	if strings.HasPrefix(name, "Subtest:") { // Node's runner, in which other comments are output of the code
		p.group, p.tape = "", false
	}
	if depth > 0 || !p.tape || p.after || name == "" || p.plan >= 0 {
		p.said.add(text)
		return
	}
	p.group = testName(name)
}

// tapResult returns the name and the status of a test from the parts of a line such as "not ok 3 - name # SKIP why".
func tapResult(m []string) (name string, status session.TestStatus) {
	name, status = m[3], session.TestPass
	if m[1] != "" {
		status = session.TestFail
	}
	if d := tapDirective.find(name); d != nil {
		if name = d[1]; !strings.EqualFold(d[2], "time") {
			status = session.TestSkip
		}
	}
	return strings.TrimSuffix(strings.TrimSpace(strings.ReplaceAll(name, `\#`, "#")), " {"), status
}

func (p *tapTests) test(depth int, m []string) {
	name, status := tapResult(m)
	name = p.at.relative(name)
	if depth == 0 {
		p.tests++
		if bad(status) && p.loadFailure(name) {
			return
		}
		p.after = bad(status)
	}
	t := tapTest{depth, testName(cmp.Or(name, "("+cmp.Or(m[2], strconv.Itoa(p.tests))+")")), status, nil}
	if p.said = nil; bad(status) {
		t.text = &quote{}
		p.said = t.text
	}
	if depth == 0 && p.group != "" {
		// tape's assertions have no stable names, so the test as a whole gets the status of the worst one.
		p.Set(session.TestID(p.group), status)
		p.quote(session.TestID(p.group), t.text)
		return
	}
	if p.nest(t); depth == 0 {
		for _, t := range p.inside {
			p.quote(p.add(session.TestID(testName(t.name)), t.status, ""), t.text)
		}
		p.inside = p.inside[:0]
	}
}

// nest adds a test to inside. The tests before it that are indented deeper become its subtests. It is dropped itself
// if it has subtests and only sums up their results.
func (p *tapTests) nest(t tapTest) {
	from := slices.IndexFunc(p.inside, func(b tapTest) bool { return b.depth > t.depth })
	explained := false
	for i := from; i >= 0 && i < len(p.inside); i++ {
		b := &p.inside[i]
		b.depth, b.name = t.depth, t.name+SuiteSep+b.name
		explained = explained || bad(b.status)
	}
	if (from < 0 || bad(t.status) && !explained) && len(p.inside) < maxTests {
		p.inside = append(p.inside, t)
	}
}

// quote keeps the output of a failing test, to be stored under its id at the end.
func (p *tapTests) quote(id session.TestID, text *quote) {
	if text != nil && len(p.quotes) < maxFailures {
		text.id = id
		p.quotes = append(p.quotes, text)
	}
}

// loadFailure reports whether a failing line is about a file that could not be loaded, instead of a test. AVA prints
// two such lines, one with the error and one for the process that ended. Node prints the name of the file.
func (p *tapTests) loadFailure(name string) bool {
	file, _, ended := strings.Cut(name, " exited with a non-zero exit code")
	switch {
	case tapThrown.find(name) != nil:
		p.fault = &quote{}
		p.fault.add(name)
		p.said = p.fault
	case ended && IsScript(file) || IsScript(name) && !strings.Contains(name, " "):
		if p.fault == nil {
			p.fault = &quote{}
			p.fault.add("test failed") // as in Node's JUnit report: the gate loads the file again to get the reason
		}
		p.loads = append(p.loads, tapLoad{file, p.fault})
		p.fault, p.said = nil, nil
	default:
		return false
	}
	return true
}

func (p *tapTests) finish() {
	if p.fault != nil { // an error outside of all tests, in an unknown file
		p.Damaged, _, _ = strings.Cut(p.fault.text.String(), "\n")
	}
	for _, l := range p.loads {
		p.unloaded(l.file, l.file, strings.TrimSpace(l.why.text.String()), unknownInScripts)
	}
	for _, q := range p.quotes {
		p.Say(q.id, p.at.Without(q.text.String()))
	}
	switch {
	case p.plan < 0 && p.tests > 0:
		p.Damaged = "it has no plan (1..N)"
	case p.plan > p.tests:
		p.Damaged = fmt.Sprintf("%d of %d planned tests are missing", p.plan-p.tests, p.plan)
	}
	p.NoTests = p.NoTests || p.plan == 0
}
