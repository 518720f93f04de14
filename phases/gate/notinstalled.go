package gate

import (
	"cmp"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
)

// NotInstalledError says that a set-up has left out what a gate runs.
type NotInstalledError struct{ Reason string }

func (e *NotInstalledError) Error() string { return e.Reason }

// NotInstalled says that the set-up of the place where a gate ran has left out what it runs, "" when there was no
// set-up, or something else was wrong.
func (g *Run) NotInstalled() string {
	if g.setup == "" || g.Exit == 0 || g.Gate.Format.PerTest() && len(g.Report.Tests) > 0 {
		return ""
	}
	what := report.Lacking(strings.Join(g.Quoted(), "\n"))
	switch {
	case g.Ran() && !g.Gate.Format.PerTest(): // its exit code is an answer, whatever it printed
		return ""
	case g.Exit == process.ExitNotFound || g.ToolMissing() != "":
		what = cmp.Or(what, "what the gate runs")
	case what == "":
		return ""
	}
	return notInstalled(g.setup, what)
}

// LeftOut says what the set-up has left out that tests need, as the end of a sentence, "" when none says so.
func (g *Run) LeftOut() string {
	for _, id := range report.SortedKeys(g.Report.Messages) {
		if what := report.Lacking(g.Report.Messages[id]); what != "" && g.setup != "" {
			return "; " + notInstalled(g.setup, what)
		}
	}
	return ""
}

// notInstalled says what a set-up has not installed, and where it is to be named.
func notInstalled(setup, what string) string {
	return "the set-up did not install " + what + "; edit " + lineOf(setup)
}

// lineOf is the line with a set-up as people find it.
func lineOf(setup string) string {
	return "`setup: " + safetext.Line(setup, 200) + "` under worktree: in .wfs/config.yaml"
}
