package checkpoint

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows/measure"
)

// Paths returns the paths of the first five changes in one line, and how many more there are.
func Paths(changes []session.Change) string {
	var list []string
	for _, c := range changes[:min(len(changes), 5)] {
		list = append(list, c.Path)
	}
	if len(changes) > 5 {
		list = append(list, fmt.Sprintf("and %d more", len(changes)-5))
	}
	return strings.Join(list, ", ")
}

// Message returns the commit message of a checkpoint: a subject that reads well in `git log`, the gates' results, and
// trailers. It has no duration, pid, host, local path or clock time, so that the same work has the same commit id
// everywhere.
func Message(c session.Checkpointed, s *session.Session, j *session.Judgement, next session.PhaseName) string {
	var b strings.Builder
	fmt.Fprintf(&b, "wfs(%s): %s\n", scope(c), c.Summary)
	if j != nil && len(j.Gates) > 0 {
		b.WriteString("\n" + GateTable(j.Gates))
		if c.Verdict != session.Pass {
			fmt.Fprintf(&b, "\n%s\n", j.Reason)
		}
	}
	b.WriteString("\n")
	trailer := func(key string, value any) { fmt.Fprintf(&b, "Wfs-%s: %v\n", key, value) }
	trailer("Session", s.ID.Trailer())
	trailer("Checkpoint", fmt.Sprintf("%04d", c.Number))
	trailer("Phase", c.Phase)
	if s.Laps {
		trailer("Lap", c.Lap)
	}
	if c.Attempt > 0 {
		trailer("Attempt", c.Attempt)
		trailer("Verdict", c.Verdict)
		trailer("Class", c.Class)
	}
	for _, p := range s.SkippedPhases {
		if p.Anyway {
			trailer("Not-Judged", fmt.Sprintf("%s, lap %d", p.Phase, p.Lap))
		}
	}
	trailer("Next", next)
	trailer("Trigger", c.Trigger)
	return b.String()
}

func scope(c session.Checkpointed) string {
	if c.Trigger == session.TriggerBirth {
		return "start"
	}
	return strings.ToLower(string(c.Phase))
}

// GateTable lists gate results, one per line.
func GateTable(gates []session.GateResult) string {
	var b strings.Builder
	for _, g := range gates {
		fmt.Fprintf(&b, "gate %s: %s (%s)", g.Gate, g.Verdict, g.Class)
		if n := g.Counts; n.Total() > 0 {
			fmt.Fprintf(&b, ", %d passed, %d failed, %d skipped", n.Passed, n.Failed, n.Skipped)
			if n.Errors > 0 {
				fmt.Fprintf(&b, ", %d could not run", n.Errors)
			}
			if n.Flaky > 0 {
				fmt.Fprintf(&b, ", %d flaky", n.Flaky)
			}
		}
		if numbers := measure.List(g.Numbers); numbers != "" {
			b.WriteString(", " + numbers)
		}
		if g.TestsOf != nil {
			fmt.Fprintf(&b, ", with the tests of checkpoint %d", *g.TestsOf)
		}
		if len(g.Flaky) > 0 {
			fmt.Fprintf(&b, ", flaky: %s", safetext.First(g.Flaky, 5, ", "))
		}
		if len(g.KnownRed) > 0 {
			fmt.Fprintf(&b, ", already failing before the session: %s", safetext.First(g.KnownRed, 5, ", "))
		}
		b.WriteString("\n")
	}
	return b.String()
}
