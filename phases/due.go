package phases

import (
	"slices"

	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// due splits a phase's gates into those that judge this attempt and those that judge later. At least one command must
// judge: if nothing changed in the paths of any, all of these run. Likewise, at least one of the gates that expect
// red must judge.
func due(r session.JudgeRequest) (now []workflows.Gate, later []session.NotRun) {
	gates := r.Phase.Gates
	why := make([]string, len(gates)) // "": now
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

// atOnce makes gates of a kind judge now if none of them would. It affects gates that wait for the given reason; ""
// means any.
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

// notYet says why a gate does not judge this attempt, by its paths and its time; "" if it does.
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
