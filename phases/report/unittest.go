package report

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// unittests reads the output of `python -m unittest -v`: a line for each test, then a section for each failure, then
// the summary. Ids have the form "tests.test_calc.TestCalc::test_adds", as those of pytest. Failing subtests have the
// form "…::test_x[i=1]".
type unittests struct {
	results
	open   session.TestID // test whose result has not been printed yet
	status session.TestStatus
	module string // module that could not be loaded or set up, if the current section is about one; else ""
	setup  bool   // the current section is about the set-up or teardown of a class or a module
	ran    int    // number of tests in the summary; -1 if there is none
	rule   bool   // the last line was ======
}

var (
	// This matches "test_a (mod.Class.test_a)" or, before Python 3.11, "test_a (mod.Class)". For a subtest, [message]
	// or (i=1) follows. The expression does not match the result as well, because a line may contain very many results.
	unittestTest   = newForm(" (", `^(\w+|\w[\w.]*) \(([\w.<>]+)\)((?: \[.*?\])?(?: \(.*\))?)?(?: \.\.\. |$)`)
	unittestResult = newForm("", `(ok|FAIL|ERROR|expected failure|unexpected success|skipped (?:'.*'|".*"))$`)
	unittestHead   = newForm(": ", `^(ERROR|FAIL|UNEXPECTED SUCCESS): (.*)$`)
	unittestSum    = newForm("Ran ", `^Ran (\d+) tests? in [\d.]+s$`)
	pythonFile     = newForm("File", `(?m)^  File "(.+?)", line \d+`)
)

// unittestEnds are the possible ends of a result. They are checked before the regular expression, because most lines
// have none of them.
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
		if unittestTest.find(text) != nil { // before Python 3.11 a line is not ended before failing subtests
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

// unittestName returns the id of the test in "name (where)"; "" if this is no test. For a module that could not be
// loaded, the id is the module's name.
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

// close records the result of the open test. If result is "", it is only known that the test began.
func (p *unittests) close(result string) {
	id := p.open
	p.open = ""
	status, ran := statuses[result]
	switch {
	case id == "":
	case result == "":
		p.Set(id, session.TestPass) // a later section corrects this: a test with failing subtests prints no result
	case bad(status) && forAll(Leaf(id)): // a section follows that says more
	case ran:
		p.add(id, status, "")
	default:
		p.add(id, session.TestSkip, "") // this includes expected failures, which prove nothing
	}
}

// subtestID returns the id of a subtest, "test[i=1]" for " (i=1)".
func subtestID(id session.TestID, params string) session.TestID {
	params = strings.NewReplacer("[", "", "]", "", "(", "", ")", "").Replace(strings.TrimSpace(params))
	return session.TestID(string(id) + "[" + testName(params) + "]")
}

// forAll reports whether a name is that of a set-up or teardown for a whole class or module. Python prints it only if
// it fails. It is not recorded as a test, because no later run could show it passing.
func forAll(name string) bool {
	return name == "setUpClass" || name == "setUpModule" || name == "tearDownClass" || name == "tearDownModule"
}

// begin reads the head of a section, "ERROR: test_a (mod.Class.test_a)".
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

// moduleFile returns the path of a module that could not be loaded. It is taken from the traceback if it is there, and
// else made from the module's name.
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
	if p.ran < 0 { // the process died while this test ran
		p.died(p.open)
		p.open = ""
	}
	p.close("")
	p.endSection()
	if p.ran < 0 && len(p.Tests) > 0 {
		p.Damaged = "its end is missing"
	}
}
