package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

type Run struct {
	Gate    workflows.Gate
	Log     string // file name of the log, in the directory of the agent's run
	Ended   proc.Ended
	Exit    int
	Millis  int64
	started string // why the command could not be started
	Report  *report.Report
	printed []string
	Leads   *session.LeadsBack // set if the gate did not run because it would judge other files
	Changed string             // an installed file that changed during the run; "" if none
	setup   string             // the set-up command of the place where it ran; "" if there was none
	Numbers map[string]float64 // numbers that the gate reads from its output
	Cached  bool               // set if the result comes from the cache, see BaseRuns
	Alone   bool               // see BaseRun
}

// Cannot returns an error for a gate that cannot judge. `why` completes the sentence "gate NAME …". The error quotes
// the gate's last output.
func (g *Run) Cannot(why string) error {
	text := fmt.Sprintf("gate %s %s", g.Gate.Name, why)
	if lines := g.Quoted(); len(lines) > 0 {
		text += "; it printed:\n  " + strings.Join(lines, "\n  ")
	}
	return fmt.Errorf("%s", text)
}

// Passes reports whether a test passed.
func (g *Run) Passes(id session.TestID) bool { return g.Report.Tests[id] == session.TestPass }

// Built reports whether a gate ran, and all tests could be built and loaded. A changed version of the code that does
// not build proves nothing.
func (g *Run) Built() bool { return g.Ran() && len(g.Report.Broken) == 0 }

// KeepMessages takes over the output of failing tests from a later run, for tests that have none in this one.
func (g *Run) KeepMessages(later *Run) {
	for id, text := range later.Report.Messages {
		g.Report.Say(id, text)
	}
}

// Ran reports whether the gate's command was executed and ended by itself, so that the exit code is that of the
// command.
func (g *Run) Ran() bool {
	return g.Ended == proc.Exited && g.Exit != process.ExitNotExecutable && g.Exit != process.ExitNotFound
}

// leadBack replaces the path of the clean checkout by the path of the work tree in the gate's output, because people
// and agents look for the files there.
func (g *Run) leadBack(room, live string) {
	for i, line := range g.printed {
		g.printed[i] = strings.ReplaceAll(line, room, live)
	}
	for id, text := range g.Report.Messages {
		g.Report.Messages[id] = strings.ReplaceAll(text, room, live)
	}
}

// close adds the result of the gate as a whole to the report. An exit-code gate always has one. Other gates have one
// only after a failure that no test explains, such as a missed coverage threshold, an error outside of tests, or a
// truncated report.
func (g *Run) close() {
	id, tests := report.GateID(g.Gate.Name), g.Report.Tests
	if !g.Gate.Format.PerTest() {
		g.closeByExit()
		return
	}
	if !g.Report.NoTests {
		g.Report.NoTests = len(tests) == 0 && report.SaysNoTests(g.Gate.Format, g.Exit, strings.Join(g.printed, "\n"))
	}
	c := tests.Count()
	unexplained := g.Exit != 0 && c.Failed+c.Errors == 0 && c.Total() > 0
	if g.Ran() && (g.Report.Damaged != "" || unexplained) {
		g.Report.Set(id, session.TestError)
		g.Report.Say(id, strings.Join(g.printed, "\n"))
	}
}

// closeByExit adds the result of an exit-code gate to the report.
func (g *Run) closeByExit() {
	id := report.GateID(g.Gate.Name)
	switch {
	case !g.Ran():
	case g.Exit == 0:
		g.Report.Tests[id] = session.TestPass
	default:
		g.Report.Tests[id] = session.TestFail
		g.Report.Say(id, strings.Join(g.printed, "\n"))
	}
}

// Unable returns the reason why the command did not run, as the end of a sentence. It returns "" if the command ran,
// even if it ran too long.
func (g *Run) Unable() string {
	switch {
	case g.Ended == proc.NotStarted:
		return "could not be started"
	case g.Ended != proc.Timeout && !g.Ran():
		return fmt.Sprintf("could not run (exit code %d)", g.Exit)
	}
	return ""
}

// Silent reports whether the command failed without reporting the result of any test.
func (g *Run) Silent() bool {
	return g.Gate.Format.PerTest() && g.Exit != 0 && len(g.Report.Tests) == 0
}

// ToolMissing returns the line of output that says that the test runner is not installed; "" if there is none.
func (g *Run) ToolMissing() string {
	for _, line := range g.Quoted() {
		if report.ToolMissing(line) {
			return line
		}
	}
	return ""
}

func (g *Run) Lacks(id session.TestID) bool { return !g.Has(id) }

func (g *Run) Has(id session.TestID) bool { _, ran := g.Report.Tests[id]; return ran }

// Quoted returns the last lines of a gate's output. If its command could not be started, the last line is the reason.
func (g *Run) Quoted() []string {
	if g.started != "" {
		return append(slices.Clone(g.printed), g.started)
	}
	return g.printed
}
