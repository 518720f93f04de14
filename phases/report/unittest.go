package report

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// unittests reads the output of `python -m unittest -v`: a line for each test, then a section for each failure, then
// the summary. An id is "tests.test_calc.TestCalc::test_adds", as in pytest. Failing subtests are "…::test_x[i=1]".
type unittests struct {
	results
	open   session.TestID // test of the open line: its result is still to come
	status session.TestStatus
	module string // of the open section, if it could not be loaded or set up; "" if it is about a test
	setup  bool   // it is about set-up or teardown for all tests of a class or a module
	ran    int    // the summary's count; -1 without a summary
	rule   bool   // the last line was ======
}

var (
	// test_a (mod.Class.test_a), before Python 3.11 test_a (mod.Class); a subtest is followed by [message] or (i=1).
	// The result is not matched here, because a line may hold very many of these.
	unittestTest   = newForm(" (", `^(\w+|\w[\w.]*) \(([\w.<>]+)\)((?: \[.*?\])?(?: \(.*\))?)?(?: \.\.\. |$)`)
	unittestResult = newForm("", `(ok|FAIL|ERROR|expected failure|unexpected success|skipped (?:'.*'|".*"))$`)
	unittestHead   = newForm(": ", `^(ERROR|FAIL|UNEXPECTED SUCCESS): (.*)$`)
	unittestSum    = newForm("Ran ", `^Ran (\d+) tests? in [\d.]+s$`)
	pythonFile     = newForm("File", `(?m)^  File "(.+?)", line \d+`)
)

// unittestEnds are the ends of results, checked first because most lines have none.
var unittestEnds = []string{"ok", "FAIL", "ERROR", " failure", " success", "'", `"`}

func (p *unittests) line(text string) {
	if m := unittestSum.find(text); m != nil {
		p.close("")
		p.endSection()
		p.ran, _ = strconv.Atoi(m[1])
		p.NoTests = p.ran == 0 && len(p.Tests) == 0
		return
	}
	if strings.HasPrefix(text, "======================================================================") {
		p.close("")
		p.endSection()
		p.rule = true
		return
	}
	if p.rule {
		if p.rule = false; unittestHead.find(text) != nil {
			p.begin(unittestHead.find(text))
		}
		return
	}
	if p.said != nil {
		if !strings.HasPrefix(text, "----------------------------------------------------------------------") {
			p.said.add(text)
		}
		return
	}
	p.testLine(text)
}

func (p *unittests) testLine(text string) {
	named, indented := strings.CutPrefix(text, "  ")
	if m := unittestTest.find(named); m != nil && unittestName(m[1], m[2]) != "" {
		p.close("")
		id, rest := unittestName(m[1], m[2]), named[len(m[0]):]
		if indented {
			p.Set(id, failing(rest))
			p.Set(subtestID(id, m[3]), failing(rest))
			return
		}
		p.open, text = id, rest
		if unittestTest.find(text) != nil { // before Python 3.11: failing subtests leave the line open
			p.testLine(text)
			return
		}
	}
	if p.open != "" && slices.ContainsFunc(unittestEnds, func(end string) bool { return strings.HasSuffix(text, end) }) {
		if m := unittestResult.find(text); m != nil {
			p.close(m[1])
		}
	}
}

func failing(word string) session.TestStatus {
	if word == "ERROR" {
		return session.TestError
	}
	return session.TestFail
}

// unittestName returns the id of "name (where)". A module that could not be loaded is named by itself.
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

// close records the result of the open line. Without one, it is only known that the test began.
func (p *unittests) close(result string) {
	id := p.open
	p.open = ""
	status, ran := statuses[result]
	switch {
	case id == "":
	case result == "":
		p.Set(id, session.TestPass) // sections correct this: failing subtests print no result for their test
	case bad(status) && forAll(Leaf(id)): // a section says more
	case ran:
		p.add(id, status, "")
	default:
		p.add(id, session.TestSkip, "") // also an expected failure: it proves nothing
	}
}

// subtestID returns test[i=1] for " (i=1)".
func subtestID(id session.TestID, params string) session.TestID {
	params = strings.NewReplacer("[", "", "]", "", "(", "", ")", "").Replace(strings.TrimSpace(params))
	return session.TestID(string(id) + "[" + testName(params) + "]")
}

// forAll reports whether a name is a set-up or teardown for all tests of a class or a module. It is printed only if
// it fails, so it is not recorded as a test: no later run could show it passing.
func forAll(name string) bool {
	return name == "setUpClass" || name == "setUpModule" || name == "tearDownClass" || name == "tearDownModule"
}

// begin reads "ERROR: test_a (mod.Class.test_a)", the head of a section.
func (p *unittests) begin(head []string) {
	id := session.TestID(testName(head[2]))
	p.status, p.module, p.setup = failing(head[1]), "", false
	if m := unittestTest.find(head[2]); m != nil {
		switch named := unittestName(m[1], m[2]); {
		case strings.HasPrefix(m[2], "unittest.loader."):
			id, p.module = named, m[1]
		case forAll(m[1]):
			id, p.module, p.setup = session.TestID(testName(m[2])), m[2], true
			if strings.HasSuffix(m[1], "Class") {
				p.module, _ = beforeLast(m[2], ".")
			}
		case named != "":
			if id = named; m[3] != "" {
				p.Set(id, p.status)
				id = subtestID(id, m[3])
			}
		}
	}
	if p.module == "" {
		p.Set(id, p.status)
	}
	p.said = &quote{id: id}
}

func (p *unittests) endSection() {
	switch {
	case p.said == nil:
	case p.module != "":
		message := p.at.Without(p.said.text.String())
		p.Breaks(Breakage{Unit: p.said.id, File: moduleFile(p.module, message), Missing: MissingInScript(message),
			Message: message, Setup: p.setup})
	case p.status == session.TestError:
		p.raise(p.said.id)
	}
	p.flush()
}

// moduleFile returns the file of a module that could not be loaded, from the traceback if that names it.
func moduleFile(module, message string) string {
	name := module[strings.LastIndexByte(module, '.')+1:] + ".py"
	for _, m := range pythonFile.re().FindAllStringSubmatch(message, -1) {
		if file := cleanPath(m[1]); path.Base(file) == name {
			return file
		}
	}
	return strings.ReplaceAll(module, ".", "/") + ".py"
}

func (p *unittests) finish() {
	if p.ran < 0 { // the process died in that test
		p.died(p.open)
		p.open = ""
	}
	p.close("")
	p.endSection()
	if p.ran < 0 && len(p.Tests) > 0 {
		p.Damaged = "its end is missing"
	}
}
