package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Limits of one report. Real test suites stay far below them. A report that exceeds them is treated as damaged.
const (
	maxTests  = 200_000
	MaxName   = 1000 // bytes
	maxBroken = 200  // breakages that are stored
	maxLine   = 1 << 20
)

// Report has the results of one run of a gate.
type Report struct {
	Tests    session.Tests
	Messages map[session.TestID]string // output of failing tests, limited by maxFailures and maxExcerpt
	Files    map[session.TestID]string // files of failing tests, if the test runner reports them
	Broken   []Breakage
	Crashed  map[string]bool         // Go packages whose test process died before all tests had ended
	Raised   map[session.TestID]bool // tests whose own code was running when their error occurred
	Damaged  string                  // the reason why the report may be incomplete; "" if there is none
	NoTests  bool                    // the test runner itself reported that there are no tests
	TimedOut bool                    // the test runner stopped tests after its time limit
}

// Breakage is one reason why a unit could not be built or loaded. A unit is a Go package, a module or a test file.
type Breakage struct {
	Unit    session.TestID // the unit's id; in the report's tests it has the status TestError
	File    string         // the file as the test runner names it; "" if unknown
	Missing string         // the name that is not defined, if this is the reason; else ""
	Misfit  string         // the compiler's message about types, if this is the reason and no name is missing; else ""
	Message string
	Line    int  // line in File; 0 if unknown
	Setup   bool // the unit was loaded, but the set-up or teardown for all of its tests failed
	Build   bool // it stopped the whole build, so that other units could not run either
}

// New returns an empty report.
func New() *Report {
	return &Report{Tests: session.Tests{}, Messages: map[session.TestID]string{}, Files: map[session.TestID]string{},
		Crashed: map[string]bool{}, Raised: map[session.TestID]bool{}}
}

// Set records the status of a test. If it is called several times for a test, the worst status counts: with `-count=3`
// a test fails if it fails once.
func (r *Report) Set(id session.TestID, s session.TestStatus) {
	old, known := r.Tests[id]
	if !known && len(r.Tests) >= maxTests {
		r.Damaged = "it has too many tests"
		return
	}
	if !known || Worse(s) > Worse(old) {
		r.Tests[id] = s
	}
}

// Worse returns the severity of a status: a higher number is worse.
func Worse(s session.TestStatus) int {
	return slices.Index([]session.TestStatus{session.TestSkip, session.TestPass, session.TestError, session.TestFail}, s)
}

// Say stores the output of a failing test. If there is output of this test already, that stays.
func (r *Report) Say(id session.TestID, message string) {
	if old, ok := r.Messages[id]; ok && old != "" || !ok && len(r.Messages) >= maxFailures {
		return
	}
	r.Messages[id] = excerpt(message, maxExcerpt)
}

// Breaks records a unit that could not be built or loaded.
func (r *Report) Breaks(b Breakage) {
	r.Set(b.Unit, session.TestError)
	if len(r.Broken) < maxBroken {
		if !b.Explained() {
			b.Misfit = misfit(b.File, b.Message)
		}
		b.Message = excerpt(b.Message, maxExcerpt)
		r.Broken = append(r.Broken, b)
	}
	if old := r.Messages[b.Unit]; len(old) < maxExcerpt {
		delete(r.Messages, b.Unit)
		r.Say(b.Unit, strings.TrimSpace(old+"\n"+b.Message))
	}
}

// results is a report that a parser is filling.
type results struct {
	*Report
	at   Place
	seen map[session.TestID]int
	said *quote // the test whose output is being read; nil if none is
}

func newResults(at Place) results {
	return results{Report: New(), at: at, seen: map[session.TestID]int{}}
}

// statuses maps the words of test runners to statuses.
var statuses = map[string]session.TestStatus{
	"ok": session.TestPass, "passed": session.TestPass, "Passed": session.TestPass, "Warning": session.TestPass,
	"PassedButRunAborted": session.TestPass, ".": session.TestPass, "pass": session.TestPass,
	"FAIL": session.TestFail, "FAILED": session.TestFail, "failed": session.TestFail, "Failed": session.TestFail,
	"F":                  session.TestFail,
	"unexpected success": session.TestFail, "UNEXPECTED SUCCESS": session.TestFail, "fail": session.TestFail,
	"ERROR": session.TestError, "E": session.TestError,
	"NotExecuted": session.TestSkip, "Inconclusive": session.TestSkip, "NotRunnable": session.TestSkip,
	"Pending": session.TestSkip,
	"skip":    session.TestSkip,
}

// add records the result of a test and returns its id. If there is a test with this id already, the id becomes
// "name#2", and so on.
func (r *results) add(id session.TestID, status session.TestStatus, message string) session.TestID {
	if len(r.seen) < maxTests {
		r.seen[id]++
	}
	if n := r.seen[id]; n > 1 {
		id = session.TestID(fmt.Sprintf("%s#%d", id, n))
	}
	r.Set(id, status)
	if bad(status) && message != "" {
		r.Say(id, r.at.Without(message))
	}
	return id
}

// raise records that a test's own code was running when its error occurred.
func (r *results) raise(id session.TestID) {
	if len(r.Raised) < maxTests {
		r.Raised[id] = true
	}
}

// died records an error for a test that was running when its process ended. It does nothing if id is "".
func (r *results) died(id session.TestID) {
	if id != "" {
		r.Set(id, session.TestError)
		r.Say(id, "it was running when the test process exited")
	}
}

// unloaded records a file that could not be loaded. names finds the missing name in the error message. In Ruby one
// such file stops all tests, because all files are loaded before the first test runs.
func (r *results) unloaded(unit, file, message string, names *forms) {
	message = safetext.Strip(r.at.Without(message))
	missing := names.find(message)
	if names == unknownInScripts { // loaders of TypeScript print errors of its compiler
		missing = MissingInScript(message)
	}
	r.Breaks(Breakage{Unit: session.TestID(testName(unit)), File: file, Missing: missing, Message: message,
		Build: names == unknownInRuby})
}

// flush stores the output of the test whose output was being read, if it failed.
func (r *results) flush() {
	if r.said != nil && bad(r.Tests[r.said.id]) {
		r.Say(r.said.id, r.at.Without(r.said.text.String()))
	}
	r.said = nil
}

// quote collects the lines of output of one test.
type quote struct {
	id   session.TestID
	text strings.Builder
}

func (q *quote) add(line string) {
	if q != nil && q.text.Len() < maxExcerpt {
		q.text.WriteString(line)
		q.text.WriteByte('\n')
	}
}

// Reload stores the error that was printed when a file was loaded once more. It is for a breakage whose first error
// gave no reason.
func (r *Report) Reload(b *Breakage, printed string) {
	b.Message = excerpt(printed, maxExcerpt)
	b.Missing = MissingInScript(b.Message)
	r.Messages[b.Unit] = b.Message
}

// IsBroken reports whether an id is that of a unit that could not be built or loaded.
func (r *Report) IsBroken(id session.TestID) bool {
	return slices.ContainsFunc(r.Broken, func(b Breakage) bool { return b.Unit == id })
}

// Explained reports whether a breakage has a known cause: a missing name, types, or a failing set-up.
func (b Breakage) Explained() bool { return b.Missing != "" || b.Misfit != "" || b.Setup }

// Raises reports whether an error occurred while the test's own code was running. An error about a name that is not
// defined yet counts as well.
func (r *Report) Raises(id session.TestID) bool {
	return r.Raised[id] || MissingInScript(r.Messages[id]) != ""
}

// Fails reports whether a test failed or had an error. It returns false for a nil report.
func (r *Report) Fails(id session.TestID) bool { return r != nil && Bad(r.Tests[id]) }
