package phases

import (
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// due splits the gates of a phase into those that judge this attempt, and those that judge later. When nothing changed that
// any of them is about, all are asked: a phase is not passed without a command.
func due(r session.JudgeRequest) (now []workflows.Gate, later []session.NotRun) {
	ran, byPaths := false, false
	for _, g := range r.Phase.Gates {
		switch why := notYet(g, r); {
		case why == "":
			now, ran = append(now, g), ran || g.Runs()
		default:
			byPaths = byPaths || why == noPathChanged
			later = append(later, session.NotRun{Gate: g.Name, Why: why})
		}
	}
	if ran || !byPaths {
		return now, later
	}
	later = slices.DeleteFunc(later, func(n session.NotRun) bool { return n.Why == noPathChanged })
	return slices.DeleteFunc(slices.Clone(r.Phase.Gates), func(g workflows.Gate) bool {
		return slices.ContainsFunc(later, func(n session.NotRun) bool { return n.Gate == g.Name })
	}), later
}

const noPathChanged = "nothing changed in its paths"

// notYet says why a gate does not judge an attempt, "" when it does. One that expects red always may: it says what the lap
// is about.
func notYet(g workflows.Gate, r session.JudgeRequest) string {
	to := r.Phase.On[workflows.Pass]
	switch {
	case r.All || !g.Runs():
	case g.When == workflows.WhenFinish:
		return "it judges when the work is complete"
	case g.When == workflows.WhenLap && to != workflows.NextLap && to != workflows.Done:
		return "it judges when the lap ends"
	case len(g.Paths) > 0 && !slices.ContainsFunc(r.Changed, func(c session.Change) bool { return matchAny(g.Paths, c.Path) }):
		return noPathChanged
	}
	return ""
}
