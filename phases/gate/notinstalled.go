package gate

import (
	"cmp"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
)

// NotInstalledError reports that the set-up did not install something that a gate runs.
type NotInstalledError struct{ Reason string }

func (e *NotInstalledError) Error() string { return e.Reason }

// NotInstalled returns a message if a run failed because the set-up of its place did not install something; "" if
// there was no set-up, or another reason.
func (g *Run) NotInstalled() string {
	if g.setup == "" || g.Exit == 0 || g.Gate.Format.PerTest() && len(g.Report.Tests) > 0 {
		return ""
	}
	what := report.Lacking(strings.Join(g.Quoted(), "\n"))
	switch {
	case g.Ran() && !g.Gate.Format.PerTest(): // its exit code counts, whatever it printed
		return ""
	case g.Exit == process.ExitNotFound || g.ToolMissing() != "":
		what = cmp.Or(what, "what the gate runs")
	case what == "":
		return ""
	}
	return notInstalled(g.setup, what)
}

// LeftOut ends a sentence about something that tests need and the set-up did not install; "" if no test says so.
func (g *Run) LeftOut() string {
	for _, id := range report.SortedKeys(g.Report.Messages) {
		if what := report.Lacking(g.Report.Messages[id]); what != "" && g.setup != "" {
			return "; " + notInstalled(g.setup, what)
		}
	}
	return ""
}

// notInstalled says that the set-up lacks something, and where to add it.
func notInstalled(setup, what string) string {
	return "the set-up did not install " + what + "; edit " + lineOf(setup)
}

// lineOf returns the set-up line as it is in the configuration.
func lineOf(setup string) string {
	return "`setup: " + safetext.Line(setup, 200) + "` under worktree: in .wfs/config.yaml"
}
