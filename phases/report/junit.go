package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// suiteSep stands between the suites of a test and its name, for runners without class names.
const SuiteSep = " > "

// junitParser reads JUnit XML, one document or many. There is no standard, so it takes what the tools that are in use
// print: nested suites (Node), class names (pytest, Surefire, jest-junit), several children in a test case, text around.
type junitParser struct {
	r    *Report
	at   Place
	seen map[session.TestID]int
}

func newJUnitParser(roots ...string) *junitParser {
	return &junitParser{r: New(), at: roots, seen: map[session.TestID]int{}}
}

// testCase is one <testcase> while it is read.
type testCase struct {
	class, name, file string
	status            session.TestStatus
	message           strings.Builder
	said              int // where in it the text of the newest failure begins, behind what its attribute says
	attribute         string
}

// maxDepth is far above what suites nest; a deeper document is an attack on the reader.
const maxDepth = 1000

// parse adds every document in a stream to the report. It never fails: what cannot be read is noted as damage.
func (p *junitParser) parse(r io.Reader) {
	feed := newXMLFeed(r)
	for feed.next("?xml", "testsuite") {
		if err := p.document(feed); err != nil && p.r.Damaged == "" {
			p.r.Damaged = "it is truncated or malformed"
		}
	}
	_, _ = io.Copy(io.Discard, feed.in)
}

func (p *junitParser) finish() *Report { return p.r }

func (p *junitParser) document(feed *xmlFeed) error {
	dec := xml.NewDecoder(feed)
	dec.Strict = false
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var (
		suites []string
		tc     *testCase
		depth  int
		inside bool // in an element whose text is the test's message
	)
	for {
		tok, err := dec.RawToken()
		if err != nil {
			if depth == 0 && err == io.EOF {
				return nil
			}
			return err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return fmt.Errorf("nested more than %d deep", maxDepth)
			}
			switch name := t.Name.Local; {
			case name == "testsuite":
				suites = append(suites, testName(attr(t, "name")))
			case name == "testcase":
				tc = &testCase{class: testName(attr(t, "classname")), name: testName(attr(t, "name")), file: attr(t, "file"), status: session.TestPass}
			case tc != nil:
				inside = tc.child(t)
			}
		case xml.EndElement:
			depth--
			switch t.Name.Local {
			case "testsuite":
				suites = suites[:max(len(suites)-1, 0)]
			case "testcase":
				if tc != nil {
					p.add(tc, suites)
				}
				tc = nil
			}
			if inside && tc != nil {
				tc.restore()
			}
			inside = false
			if depth <= 0 {
				return nil
			}
		case xml.CharData:
			if inside && tc.message.Len() < 2*MaxExcerpt {
				tc.message.Write(t)
			}
		}
	}
}

// child reads an element of a test case and reports whether its text says why it failed.
func (c *testCase) child(t xml.StartElement) bool {
	switch t.Name.Local {
	case "skipped":
		c.status = session.TestSkip // also a failing one: Node's "todo", pytest's "xfail"
		return false
	case "failure", "error":
	default:
		return false // system-out, properties, and the flakyFailure of tests that passed in the end
	}
	if c.status == session.TestSkip {
		return false
	}
	switch {
	case t.Name.Local == "error" && c.status != session.TestFail:
		c.status = session.TestError
	case t.Name.Local == "failure":
		c.status = session.TestFail
	}
	if c.attribute = attr(t, "message"); c.attribute != "" {
		c.message.WriteString(c.attribute + "\n")
	}
	c.said = c.message.Len()
	return true
}

// restore gives what the attribute of a failure says its line breaks back, which Node takes out of attributes, where the
// failure's text holds the same.
func (c *testCase) restore() {
	all := c.message.String()
	text := all[c.said:]
	var joined []byte
	var at []int
	for i := range len(text) {
		if text[i] != '\n' {
			joined, at = append(joined, text[i]), append(at, i)
		}
	}
	i := bytes.Index(joined, []byte(c.attribute))
	if c.attribute == "" || i < 0 {
		return
	}
	said := text[at[i] : at[i+len(c.attribute)-1]+1]
	before := all[:c.said-len(c.attribute)-1]
	c.message.Reset()
	c.message.WriteString(before + said + "\n" + text)
}

func (p *junitParser) add(c *testCase, suites []string) {
	c.name, c.class = p.at.relative(c.name), p.at.relative(c.class)
	if c.name == "" {
		c.name = "(unnamed)"
	}
	message := p.at.Without(c.message.String())
	if unit, file := c.loadFailure(message); unit != "" {
		p.r.Breaks(Breakage{Unit: unit, File: file, Missing: MissingInScript(message), Message: message})
		return
	}
	if c.status == session.TestPass && (c.class == "" || c.class == "test") && IsScript(c.name) {
		return // Node's word for a file that declares no test
	}
	id := session.TestID(c.class + "::" + c.name)
	if c.class == "" || c.class == "test" { // Node gives every test the class "test"
		var parts []string
		for _, s := range suites {
			if s != "" {
				parts = append(parts, s)
			}
		}
		id = session.TestID(testName(strings.Join(append(parts, c.name), SuiteSep)))
	}
	if len(p.seen) < maxTests {
		p.seen[id]++
	}
	if n := p.seen[id]; n > 1 {
		id = session.TestID(fmt.Sprintf("%s#%d", id, n))
	}
	p.r.Set(id, c.status)
	if file := p.at.relative(c.file); file != "" && len(p.r.Files) < maxTests {
		p.r.Files[id] = cleanPath(file)
	}
	if c.status == session.TestFail || c.status == session.TestError {
		p.r.Say(id, message)
	}
	if c.status == session.TestError && c.raised(message) && len(p.r.Raised) < maxTests {
		p.r.Raised[id] = true
	}
}

// raised reports whether an error came while the test itself ran: an exception that is no failed assertion, for runners
// that tell them apart (Surefire, PHPUnit). pytest says "error" of what stands around a test, other runners name the class.
func (c *testCase) raised(message string) bool {
	return c.name != "(unnamed)" && c.name != c.class && c.name != "initializationError" &&
		!strings.HasPrefix(message, "failed on setup") && !strings.HasPrefix(message, "failed on teardown")
}

// loadFailure reports whether the case stands for a file that could not be loaded rather than for a test, and names it:
// pytest's collection errors, Jest's suites that failed to run, Node's files that ended with an error.
func (c *testCase) loadFailure(message string) (unit session.TestID, file string) {
	if c.status != session.TestError && c.status != session.TestFail {
		return "", ""
	}
	named := c.class == "" || c.class == "test" || c.class == c.name || strings.Contains(c.class, "failed to run")
	switch {
	case named && IsScript(c.name):
		return session.TestID(c.name), c.name
	case strings.Contains(c.name, "failed to run") && IsScript(c.class):
		return session.TestID(c.class), c.class
	case c.status == session.TestError && c.class == "" && strings.HasPrefix(message, "collection failure"):
		return session.TestID(c.name), strings.ReplaceAll(c.name, ".", "/") + ".py"
	}
	return "", ""
}

// isScriptFile reports whether a name is that of a file in a language whose tests are loaded, not built.
func IsScript(name string) bool {
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".py":
		return !strings.ContainsAny(name, "\n\t")
	}
	return false
}

func attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func cleanPath(file string) string { return path.Clean(strings.ReplaceAll(file, `\`, "/")) }
