package phases

import (
	"slices"

	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// due splits a phase's gates into those that judge this attempt and those that run later. At least one gate with a
// command must judge: if all of them would be skipped because nothing changed in their paths, these run after all.
// Likewise, if all gates that expect red would be skipped, all of them run.
func due(r session.JudgeRequest) (now []workflows.Gate, later []session.NotRun) {
	gates := r.Phase.Gates
	why := make([]string, len(gates)) // why a gate does not run now; "" if it does
	for i, g := range gates {
		why[i] = notYet(g, r)
	}
	atOnce(gates, why, noPathChanged, func(g workflows.Gate) bool { return g.Runs() })
	atOnce(gates, why, "", func(g workflows.Gate) bool { return g.Expect == workflows.ExpectRed })
	for i, g := range gates {
		if why[i] == "" {
			now = append(now, g)
		} else {
			later = append(later, session.NotRun{Gate: g.Name, Why: why[i]})
		}
	}
	return now, later
}

// atOnce makes gates run now if no gate of their kind would. Gates of this kind are those for which `is` returns true.
// Of these, it affects the gates that were skipped for the given reason, or all if the reason is "".
func atOnce(gates []workflows.Gate, why []string, reason string, is func(workflows.Gate) bool) {
	for i, g := range gates {
		if why[i] == "" && is(g) {
			return
		}
	}
	for i, g := range gates {
		if is(g) && (reason == "" || why[i] == reason) {
			why[i] = ""
		}
	}
}

const noPathChanged = "nothing changed in its paths"

// notYet returns the reason why a gate does not judge this attempt; "" if it does. The reason is that its time has not
// come, or that no file in its paths changed.
func notYet(g workflows.Gate, r session.JudgeRequest) string {
	to := r.Phase.On[workflows.Pass]
	switch {
	case r.All || !g.Runs():
	case g.When == workflows.WhenFinish:
		return "it runs when the work is complete"
	case g.When == workflows.WhenLap && to != workflows.NextLap && to != workflows.Done:
		return "it runs when the lap ends"
	case len(g.Paths) > 0 && !slices.ContainsFunc(r.Changed,
		func(c session.Change) bool { return gate.MatchAny(g.Paths, c.Path) }):
		return noPathChanged
	}
	return ""
}
