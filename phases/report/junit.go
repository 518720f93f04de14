package report

import (
	"encoding/xml"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/session"
)

// SuiteSep stands between the suites and the name in a test's id, for runners that report no class names.
const SuiteSep = " > "

// junitSuites reads a document in JUnit's XML format. As there is no standard, it accepts all that common tools write:
// nested suites (Node), class names (pytest, Surefire, jest-junit), several children in a test case, and text around
// the document.
type junitSuites struct {
	results
	suites []string
	test   *testCase // nil outside of test cases
	inside bool      // inside an element with the text of a failure
}

// testCase collects the data of one <testcase>.
type testCase struct {
	class, name, file string
	status            session.TestStatus
	attribute         string // the attribute "message" of the latest failure
	text              strings.Builder
	message           string
}

var junitRoot = lazyregexp.New(`<testsuites?\b`)

func readJUnit(r results, data []byte) string {
	return xmlDocuments(data, junitRoot, func() xmlReader { return &junitSuites{results: r} })
}

func (p *junitSuites) start(t xml.StartElement) {
	switch {
	case t.Name.Local == "testsuite":
		p.suites = append(p.suites, testName(attr(t, "name")))
	case t.Name.Local == "testcase":
		p.test = &testCase{class: p.at.relative(testName(attr(t, "classname"))),
			name: p.at.relative(testName(attr(t, "name"))),
			file: p.at.relative(attr(t, "file")), status: session.TestPass}
	case p.test != nil:
		p.inside = p.test.child(t)
	}
}

func (p *junitSuites) text(data []byte) {
	if p.inside && p.test.text.Len() < 2*maxExcerpt {
		p.test.text.Write(data)
	}
}

func (p *junitSuites) end(name string) {
	if p.inside {
		p.test.failed()
	}
	p.inside = false
	switch {
	case name == "testsuite":
		p.suites = p.suites[:max(len(p.suites)-1, 0)]
	case name == "testcase" && p.test != nil:
		p.close(p.test)
		p.test = nil
	}
}

// child reads the start of an element in a test case. It reports whether the element's text describes a failure.
func (c *testCase) child(t xml.StartElement) bool {
	switch kind := t.Name.Local; {
	case kind == "skipped":
		c.status = session.TestSkip // even if the test fails: Node's "todo", pytest's "xfail"
	case c.status == session.TestSkip || kind != "failure" && kind != "error":
		// These are system-out, properties, and the flakyFailure of a test that passed in the end.
	case kind == "failure":
		c.status = session.TestFail
		fallthrough
	default:
		if c.status != session.TestFail {
			c.status = session.TestError
		}
		c.attribute = attr(t, "message")
		return true
	}
	return false
}

// failed adds the attribute and the text of a failure to the message. Node writes the same message into both, but
// without line breaks in the attribute; then only the text is used.
func (c *testCase) failed() {
	first, text := c.attribute, c.text.String()
	at := strings.Index(text, first[:min(len(first), 20)])
	if first != "" && at > 0 && !strings.Contains(text, first) &&
		strings.Contains(strings.ReplaceAll(text, "\n", ""), first) {
		first, text = "", text[at:]
	}
	if first != "" {
		first += "\n"
	}
	c.message += first + text
	c.text.Reset()
}

func (p *junitSuites) close(c *testCase) {
	if c.name == "" {
		c.name = "(unnamed)"
	}
	message := p.at.Without(c.message)
	if unit, file := c.loadFailure(message); unit != "" {
		p.unloaded(unit, file, message, unknownInScripts)
		return
	}
	id := session.TestID(c.class + "::" + c.name)
	if c.class == "" || c.class == "test" { // Node gives every test the class "test"
		if c.status == session.TestPass && IsScript(c.name) {
			return // Node's entry for a file without tests
		}
		parts := slices.DeleteFunc(append(slices.Clone(p.suites), c.name), func(s string) bool { return s == "" })
		id = session.TestID(testName(strings.Join(parts, SuiteSep)))
	}
	id = p.add(id, c.status, message)
	if c.file != "" && len(p.Files) < maxTests {
		p.Files[id] = cleanPath(c.file)
	}
	if c.status == session.TestError && c.raised(message) {
		p.raise(id)
	}
}

// raised reports whether an error is an exception in the test itself. Surefire and PHPUnit report exceptions and
// failed assertions differently. An error in a set-up or teardown is not in the test itself: pytest says so in the
// message, and other runners report it under the name of the class.
func (c *testCase) raised(message string) bool {
	return c.name != "(unnamed)" && c.name != c.class && c.name != "initializationError" &&
		!strings.HasPrefix(message, "failed on setup") && !strings.HasPrefix(message, "failed on teardown")
}

// loadFailure returns unit and file if the test case is not a test but a file that could not be loaded, else "" and "".
// These are pytest's collection errors, Jest's suites that failed to run, and Node's files that ended with an error.
func (c *testCase) loadFailure(message string) (unit, file string) {
	if !bad(c.status) {
		return "", ""
	}
	named := c.class == "" || c.class == "test" || c.class == c.name || strings.Contains(c.class, "failed to run")
	switch {
	case named && IsScript(c.name):
		return c.name, c.name
	case strings.Contains(c.name, "failed to run") && IsScript(c.class):
		return c.class, c.class
	case c.status == session.TestError && c.class == "" && strings.HasPrefix(message, "collection failure"):
		return c.name, strings.ReplaceAll(c.name, ".", "/") + ".py"
	}
	return "", ""
}
