package report

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/session"
)

// unittestParser reads what `python -m unittest -v` prints: a line for each test, then a section for each failure, then
// the sum. An id is "tests.test_calc.TestCalc::test_adds", as pytest's is. Failing subtests are "…::test_x[i=1]".
type unittestParser struct {
	r      *Report
	at     Place
	named  session.TestID // of the line that is open: its result is still to come
	seen   map[session.TestID]int
	said   *quote
	broken bool           // what is said is of a module that could not be loaded
	module session.TestID // whose set-up, or that of its class, is spoken of; "" for none
	raised bool           // … of an error, not of a failed assertion
	ran    int            // what the sum says; -1 without a sum
	rule   bool           // the last line was ======
}

func newUnittestParser(at Place) *unittestParser {
	return &unittestParser{r: New(), at: at, seen: map[session.TestID]int{}, ran: -1}
}

var unittestRE = sync.OnceValue(func() (r struct {
	test, result, head, sum lineForm
	file                    *regexp.Regexp
}) {
	// test_a (mod.Class.test_a), before Python 3.11 test_a (mod.Class); a subtest has [message] or (i=1) behind it. The
	// result follows; a line may hold very many of these, so it is not looked at here.
	r.test = newLineForm(" (", `^(\w+|\w[\w.]*) \(([\w.<>]+)\)((?: \[.*?\])?(?: \(.*\))?)?(?: \.\.\. |$)`)
	r.result = newLineForm("", `(ok|FAIL|ERROR|expected failure|unexpected success|skipped (?:'.*'|".*"))$`)
	r.head = newLineForm(": ", `^(ERROR|FAIL|UNEXPECTED SUCCESS): (.*)$`)
	r.sum = newLineForm("Ran ", `^Ran (\d+) tests? in [\d.]+s$`)
	r.file = regexp.MustCompile(`(?m)^  File "(.+?)", line \d+`)
	return r
})

// unittestResults are the ends of results: most lines have none of them.
var unittestResults = []string{"ok", "FAIL", "ERROR", " failure", " success", "'", `"`}

func (p *unittestParser) line(text string) {
	re := unittestRE()
	if p.said != nil || p.rule {
		p.section(text)
		return
	}
	if m := re.sum.find(text); m != nil {
		p.sum(m[1])
		return
	}
	if strings.HasPrefix(text, "======================================================================") {
		p.closeTest("")
		p.rule = true
		return
	}
	named, indented := strings.CutPrefix(text, "  ")
	if m := re.test.find(named); m != nil && unittestName(m[1], m[2]) != "" {
		p.closeTest("")
		id, rest := unittestName(m[1], m[2]), named[len(m[0]):]
		if indented {
			p.subtest(id, m[3], rest)
			return
		}
		p.named = id
		if text = rest; re.test.find(text) != nil { // before Python 3.11: failing subtests leave the line open
			p.line(text)
			return
		}
	}
	if p.named != "" && slices.ContainsFunc(unittestResults, func(end string) bool { return strings.HasSuffix(text, end) }) {
		if m := re.result.find(text); m != nil {
			p.closeTest(m[1])
		}
	}
}

// unittestName is the id of "name (where)". A module that could not be loaded is named by itself.
func unittestName(name, where string) session.TestID {
	if strings.HasPrefix(where, "unittest.loader.") {
		return session.TestID(name)
	}
	where = strings.TrimSuffix(where, "."+name)
	if !strings.Contains(where, ".") && !strings.HasPrefix(name, "test") && name != "runTest" {
		return "" // any other text with parentheses
	}
	return session.TestID(testName(where + "::" + name))
}

// closeTest records the result of the open line. Without one, the test is only known to have begun.
func (p *unittestParser) closeTest(result string) {
	if p.named == "" {
		return
	}
	id := p.named
	p.named = ""
	if result == "" {
		p.r.Set(id, session.TestPass) // the sections say so if not: subtests that fail print no result for their test
		return
	}
	if p.seen[id]++; p.seen[id] > 1 {
		id = session.TestID(fmt.Sprintf("%s#%d", id, p.seen[id]))
	}
	switch {
	case forAll(Leaf(id)) && (result == "ERROR" || result == "FAIL"): // a section says more
	case result == "ok":
		p.r.Set(id, session.TestPass)
	case result == "FAIL", result == "unexpected success":
		p.r.Set(id, session.TestFail)
	case result == "ERROR":
		p.r.Set(id, session.TestError)
	default:
		p.r.Set(id, session.TestSkip) // also an expected failure: it says nothing
	}
}

func (p *unittestParser) subtest(id session.TestID, params, result string) {
	status := session.TestFail
	if result == "ERROR" {
		status = session.TestError
	}
	p.r.Set(id, status)
	p.r.Set(subtestID(id, params), status)
}

// subtestID makes test[i=1] of " (i=1)".
func subtestID(id session.TestID, params string) session.TestID {
	params = strings.NewReplacer("[", "", "]", "", "(", "", ")", "").Replace(strings.TrimSpace(params))
	return session.TestID(string(id) + "[" + testName(params) + "]")
}

// forAll reports whether a name is that of what is done once for the tests of a class or a module. It is printed only
// when it fails, so that it is no test: no later run could show that it passes.
func forAll(name string) bool {
	switch name {
	case "setUpClass", "setUpModule", "tearDownClass", "tearDownModule":
		return true
	}
	return false
}

// section reads "ERROR: test_a (mod.Class.test_a)" and what follows, to the next rule of its kind.
func (p *unittestParser) section(text string) {
	re := unittestRE()
	if p.rule {
		p.rule = false
		m := re.head.find(text)
		if m == nil {
			return
		}
		p.begin(m[1], m[2])
		return
	}
	if strings.HasPrefix(text, "======================================================================") {
		p.endSection()
		p.rule = true
		return
	}
	if m := re.sum.find(text); m != nil {
		p.sum(m[1])
		return
	}
	if strings.HasPrefix(text, "----------------------------------------------------------------------") {
		return
	}
	p.said.add(text)
}

func (p *unittestParser) begin(kind, what string) {
	p.broken, p.module, p.raised = false, "", kind == "ERROR"
	p.said = &quote{}
	m := unittestRE().test.find(what)
	switch {
	case m == nil:
		p.said.id = session.TestID(testName(what))
	case strings.HasPrefix(m[2], "unittest.loader."):
		p.said.id, p.broken = session.TestID(m[1]), true
	case forAll(m[1]):
		p.said.id, p.broken = session.TestID(testName(m[2])), true
		if p.module = p.said.id; strings.HasSuffix(m[1], "Class") {
			module, _ := beforeLast(m[2], ".")
			p.module = session.TestID(testName(module))
		}
	default:
		p.said.id = unittestName(m[1], m[2])
		if p.said.id == "" {
			p.said.id = session.TestID(testName(what))
		}
		if m[3] != "" {
			p.r.Set(p.said.id, statusOf(p.raised))
			p.said.id = subtestID(p.said.id, m[3])
		}
	}
	if !p.broken {
		p.r.Set(p.said.id, statusOf(p.raised))
	}
}

func statusOf(raised bool) session.TestStatus {
	if raised {
		return session.TestError
	}
	return session.TestFail
}

func (p *unittestParser) endSection() {
	if p.said == nil {
		return
	}
	id, message := p.said.id, p.at.Without(p.said.text.String())
	raised, broken := p.raised, p.broken
	p.said, p.raised, p.broken = nil, false, false
	if !broken {
		p.r.Say(id, message)
		if raised && len(p.r.Raised) < maxTests {
			p.r.Raised[id] = true
		}
		return
	}
	b := Breakage{Unit: id, File: p.moduleFile(id, message), Missing: MissingInScript(message), Message: message}
	if p.module != "" {
		b.File, b.Setup = p.moduleFile(p.module, message), true
	}
	p.r.Breaks(b)
}

// moduleFile is the file of a module that could not be loaded: the one that the traceback names for it.
func (p *unittestParser) moduleFile(id session.TestID, message string) string {
	last := id
	if i := strings.LastIndexByte(string(id), '.'); i >= 0 {
		last = id[i+1:]
	}
	for _, m := range unittestRE().file.FindAllStringSubmatch(message, -1) {
		if path.Base(strings.ReplaceAll(m[1], `\`, "/")) == string(last)+".py" {
			return path.Clean(strings.ReplaceAll(m[1], `\`, "/"))
		}
	}
	return strings.ReplaceAll(string(id), ".", "/") + ".py"
}

func (p *unittestParser) sum(n string) {
	p.closeTest("")
	p.endSection()
	p.ran, _ = strconv.Atoi(n)
	p.r.NoTests = p.ran == 0 && len(p.r.Tests) == 0
}

func (p *unittestParser) finish() *Report {
	if p.ran < 0 && p.named != "" { // the process died in it
		p.r.Set(p.named, session.TestError)
		p.r.Say(p.named, "it was running when the test process exited")
		p.named = ""
	}
	p.closeTest("")
	p.endSection()
	if p.ran < 0 && len(p.r.Tests) > 0 {
		p.r.Damaged = "its end is missing"
	}
	return p.r
}
