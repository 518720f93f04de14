package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Limits of one report. Real suites stay far below; a report beyond them is damaged.
const (
	maxTests  = 200_000
	MaxName   = 1000 // bytes
	maxBroken = 200  // stored breakages
	maxLine   = 1 << 20
)

// Report is the result of one run of a gate with per-test results.
type Report struct {
	Tests    session.Tests
	Messages map[session.TestID]string // output of failing tests, at most maxFailures, at most maxExcerpt each
	Files    map[session.TestID]string // files of failing tests, if the runner reports them
	Broken   []Breakage
	Crashed  map[string]bool         // Go packages whose test process died in the middle
	Raised   map[session.TestID]bool // tests with TestError whose own code was running at the time
	Damaged  string                  // why the report may be incomplete; "" if it is not
	NoTests  bool                    // the runner itself said that there are no tests
	TimedOut bool                    // the runner stopped tests that exceeded its time limit
}

// Breakage is one reason why a unit of tests (a Go package, a test file) could not be built or loaded.
type Breakage struct {
	Unit    session.TestID // its entry in the tests, with TestError
	File    string         // as the runner names it; "" if unknown
	Missing string         // the missing name, if that is the reason
	Misfit  string         // a mismatch of types, if that is the reason and no name is missing
	Message string
	Line    int  // in File; 0 if unknown
	Setup   bool // it was loaded, but set-up or teardown for all of its tests failed
	Build   bool // it stopped a whole build, so that other units could not run either
}

// New returns an empty report.
func New() *Report {
	return &Report{Tests: session.Tests{}, Messages: map[session.TestID]string{}, Files: map[session.TestID]string{},
		Crashed: map[string]bool{}, Raised: map[session.TestID]bool{}}
}

// Set records a status. If a test gets several, the worst one counts: `-count=3` fails if one run fails.
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

// Worse returns a status's rank by severity.
func Worse(s session.TestStatus) int {
	return slices.Index([]session.TestStatus{session.TestSkip, session.TestPass, session.TestError, session.TestFail}, s)
}

// Say stores the output of a failing test. The first text stays.
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
	said *quote // the output about a failing test that is being collected
}

func newResults(at Place) results {
	return results{Report: New(), at: at, seen: map[session.TestID]int{}}
}

// statuses maps runners' words to results.
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

// add records a test. The second one with the same name is "name#2".
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

// raise records that a test's own code was running when its error came.
func (r *results) raise(id session.TestID) {
	if len(r.Raised) < maxTests {
		r.Raised[id] = true
	}
}

// died records a test that was running when its process ended; "" for none.
func (r *results) died(id session.TestID) {
	if id != "" {
		r.Set(id, session.TestError)
		r.Say(id, "it was running when the test process exited")
	}
}

// unloaded records a file that could not be loaded. names match the loader's messages about unknown names. In Ruby
// this stops all tests: it loads all files before it runs the first test.
func (r *results) unloaded(unit, file, message string, names *forms) {
	message = safetext.Strip(r.at.Without(message))
	missing := names.find(message)
	if names == unknownInScripts { // loaders of TypeScript show errors of its compiler
		missing = MissingInScript(message)
	}
	r.Breaks(Breakage{Unit: session.TestID(testName(unit)), File: file, Missing: missing, Message: message,
		Build: names == unknownInRuby})
}

// flush stores the collected output of a failing test.
func (r *results) flush() {
	if r.said != nil && bad(r.Tests[r.said.id]) {
		r.Say(r.said.id, r.at.Without(r.said.text.String()))
	}
	r.said = nil
}

// quote collects the lines that belong to one test.
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

// Reload stores the output of a file that was loaded once more, because the first failure came without a reason.
func (r *Report) Reload(b *Breakage, printed string) {
	b.Message = excerpt(printed, maxExcerpt)
	b.Missing = MissingInScript(b.Message)
	r.Messages[b.Unit] = b.Message
}

// IsBroken reports whether an entry is a unit that could not be built or loaded.
func (r *Report) IsBroken(id session.TestID) bool {
	return slices.ContainsFunc(r.Broken, func(b Breakage) bool { return b.Unit == id })
}

// Explained reports whether the cause of a breakage is known.
func (b Breakage) Explained() bool { return b.Missing != "" || b.Misfit != "" || b.Setup }

// Raises reports whether a test with an error was itself running at the time, or waits for a name.
func (r *Report) Raises(id session.TestID) bool {
	return r.Raised[id] || MissingInScript(r.Messages[id]) != ""
}

// Fails reports whether a test fails; it does not in a nil report.
func (r *Report) Fails(id session.TestID) bool { return r != nil && Bad(r.Tests[id]) }
