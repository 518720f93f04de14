package report

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// unittests reads what `python -m unittest -v` prints: a line for each test, then a section for each failure, then the
// sum. An id is "tests.test_calc.TestCalc::test_adds", as pytest's is. Failing subtests are "…::test_x[i=1]".
type unittests struct {
	results
	open   session.TestID // of the line that is open: its result is still to come
	status session.TestStatus
	module string // which the open section says could not be loaded or set up; "" if it is about a test
	setup  bool   // it is about what is done once for the tests of a class or a module
	ran    int    // what the sum says; -1 without a sum
	rule   bool   // the last line was ======
}

var (
	// test_a (mod.Class.test_a), before Python 3.11 test_a (mod.Class); a subtest has [message] or (i=1) behind it. The
	// result follows; a line may hold very many of these, so it is not looked at here.
	unittestTest   = newForm(" (", `^(\w+|\w[\w.]*) \(([\w.<>]+)\)((?: \[.*?\])?(?: \(.*\))?)?(?: \.\.\. |$)`)
	unittestResult = newForm("", `(ok|FAIL|ERROR|expected failure|unexpected success|skipped (?:'.*'|".*"))$`)
	unittestHead   = newForm(": ", `^(ERROR|FAIL|UNEXPECTED SUCCESS): (.*)$`)
	unittestSum    = newForm("Ran ", `^Ran (\d+) tests? in [\d.]+s$`)
	pythonFile     = newForm("File", `(?m)^  File "(.+?)", line \d+`)
)

// unittestEnds are the ends of results: most lines have none of them.
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

// close records the result of the open line. Without one, the test is only known to have begun.
func (p *unittests) close(result string) {
	id := p.open
	p.open = ""
	status, ran := statuses[result]
	switch {
	case id == "":
	case result == "":
		p.Set(id, session.TestPass) // the sections say so if not: subtests that fail print no result for their test
	case bad(status) && forAll(Leaf(id)): // a section says more
	case ran:
		p.add(id, status, "")
	default:
		p.add(id, session.TestSkip, "") // also an expected failure: it says nothing
	}
}

// subtestID makes test[i=1] of " (i=1)".
func subtestID(id session.TestID, params string) session.TestID {
	params = strings.NewReplacer("[", "", "]", "", "(", "", ")", "").Replace(strings.TrimSpace(params))
	return session.TestID(string(id) + "[" + testName(params) + "]")
}

// forAll reports whether a name is that of what is done once for the tests of a class or a module. It is printed only
// when it fails, so that it is no test: no later run could show that it passes.
func forAll(name string) bool {
	return name == "setUpClass" || name == "setUpModule" || name == "tearDownClass" || name == "tearDownModule"
}

// begin reads "ERROR: test_a (mod.Class.test_a)", behind which a section begins.
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

// moduleFile is the file of a module that could not be loaded: the one that the traceback names for it.
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
	if p.ran < 0 { // the process died in it
		p.died(p.open)
		p.open = ""
	}
	p.close("")
	p.endSection()
	if p.ran < 0 && len(p.Tests) > 0 {
		p.Damaged = "its end is missing"
	}
}
