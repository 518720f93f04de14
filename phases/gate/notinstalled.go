package gate

import (
	"cmp"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
)

// NotInstalledError reports that a gate cannot run because the set-up command of clean checkouts did not install
// something.
type NotInstalledError struct{ Reason string }

func (e *NotInstalledError) Error() string { return e.Reason }

// NotInstalled returns a message if a run failed because the set-up command did not install something; "" if there was
// no set-up, or the run did not fail for this reason.
func (g *Run) NotInstalled() string {
	if g.setup == "" || g.Exit == 0 || g.Gate.Format.PerTest() && len(g.Report.Tests) > 0 {
		return ""
	}
	what := report.Lacking(strings.Join(g.Quoted(), "\n"))
	switch {
	case g.Ran() && !g.Gate.Format.PerTest(): // the exit code of the command counts, whatever it printed
		return ""
	case g.Exit == process.ExitNotFound || g.ToolMissing() != "":
		what = cmp.Or(what, "what the gate runs")
	case what == "":
		return ""
	}
	return notInstalled(g.setup, what)
}

// LeftOut returns the end of a sentence that names something tests need and the set-up command did not install; "" if
// no test complains about that.
func (g *Run) LeftOut() string {
	for _, id := range report.SortedKeys(g.Report.Messages) {
		if what := report.Lacking(g.Report.Messages[id]); what != "" && g.setup != "" {
			return "; " + notInstalled(g.setup, what)
		}
	}
	return ""
}

// notInstalled returns a message that the set-up command does not install something, and where to add it.
func notInstalled(setup, what string) string {
	return "the set-up did not install " + what + "; edit " + lineOf(setup)
}

// lineOf quotes the set-up command as it stands in the configuration.
func lineOf(setup string) string {
	return "`setup: " + safetext.Line(setup, 200) + "` under worktree: in .wfs/config.yaml"
}
