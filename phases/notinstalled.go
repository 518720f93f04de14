package phases

import (
	"cmp"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/report"
)

// NotInstalledError says that a set-up has left out what a gate runs.
type NotInstalledError struct{ reason string }

func (e *NotInstalledError) Error() string { return e.reason }

// notInstalled says that the set-up of the place where a gate ran has left out what it runs, "" when there was no
// set-up, or something else was wrong.
func (g *gateRun) notInstalled() string {
	if g.setup == "" || g.exit == 0 || g.gate.Format.PerTest() && len(g.report.Tests) > 0 {
		return ""
	}
	what := report.Lacking(strings.Join(g.quoted(), "\n"))
	switch {
	case g.ran() && !g.gate.Format.PerTest(): // its exit code is an answer, whatever it printed
		return ""
	case g.exit == exitNotFound || g.toolMissing() != "":
		what = cmp.Or(what, "what the gate runs")
	case what == "":
		return ""
	}
	return notInstalled(g.setup, what)
}

// leftOut says what the set-up has left out that tests need, as the end of a sentence, "" when none says so.
func (g *gateRun) leftOut() string {
	for _, id := range sortedKeys(g.report.Messages) {
		if what := report.Lacking(g.report.Messages[id]); what != "" && g.setup != "" {
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
