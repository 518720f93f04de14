package engine

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// message is the commit message of a checkpoint: a subject that reads well in `git log`, the gates' results, and
// trailers. It holds no duration, pid, host, path of this machine or clock time, so that the same work has the same
// commit id everywhere.
func message(c session.Checkpointed, s *session.Session, j *session.Judgement, next session.PhaseName) string {
	var b strings.Builder
	fmt.Fprintf(&b, "wfs(%s): %s\n", scope(c), c.Summary)
	if j != nil && len(j.Gates) > 0 {
		b.WriteString("\n" + gateTable(j.Gates))
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

// gateTable lists gates, one line each.
func gateTable(gates []session.GateResult) string {
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
		if g.TestsOf != nil {
			fmt.Fprintf(&b, ", with the tests of checkpoint %d", *g.TestsOf)
		}
		if len(g.Flaky) > 0 {
			fmt.Fprintf(&b, ", flaky: %s", names(g.Flaky))
		}
		if len(g.KnownRed) > 0 {
			fmt.Fprintf(&b, ", already failing before the session: %s", names(g.KnownRed))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func names(ids []session.TestID) string {
	const most = 5
	var list []string
	for i, id := range ids {
		if i == most {
			list = append(list, fmt.Sprintf("and %d more", len(ids)-most))
			break
		}
		list = append(list, string(id))
	}
	return strings.Join(list, ", ")
}

// summary is the subject of an attempt's checkpoint without its prefix: short, the details stand in the body.
func summary(s *session.Session, o *session.Open, d session.Decided) string {
	what := outcome(o.Judgement, d)
	if d.Verdict != session.Pass && d.Class != session.ClassAsked {
		what = string(d.Verdict) + ": " + what
	}
	place := fmt.Sprintf("attempt %d", o.Attempt)
	if lap := s.LapName(o.Lap); lap != "" {
		place = lap + ", " + place
	}
	return oneLine(what, 60) + " (" + place + ")"
}

func outcome(j *session.Judgement, d session.Decided) string {
	if d.NothingLeft && d.Class == session.ClassNothingAdded {
		return "nothing left to test"
	}
	if d.Class == session.ClassNotClean && j.Proof != nil && len(j.Proof.Lacks) == 0 {
		return "did not pass when run again"
	}
	if text, ok := map[session.Class]string{
		session.ClassMissingSymbol:   "new tests fail as intended: not defined yet",
		session.ClassUnexpectedGreen: "the new tests already pass",
		session.ClassNothingAdded:    "no new test", session.ClassNoTests: "no test ran",
		session.ClassBuildBroken: "does not build",
		session.ClassBrokeGreen:  "broke passing tests", session.ClassTargetMissing: "a test of this lap is missing",
		session.ClassFlaky:         "a test of this lap is flaky",
		session.ClassCommandFailed: "a gate's command failed", session.ClassGuard: "changed what this phase may not change",
		session.ClassKey:         "wrote a key into a tracked file",
		session.ClassNotClean:    "passes only with files outside the checkpoint",
		session.ClassLeadsBack:   "a module resolves outside the clean checkout",
		session.ClassRoomChanged: "changed installed packages",
		session.ClassHoldout:     "passes its own tests, fails hold-out tests",
		session.ClassTampered:    "weakened the tests", session.ClassTestChange: "asks to change tests",
		session.ClassDocument:  "a document is missing or incomplete",
		session.ClassUnchanged: "the required change is missing",
		session.ClassApproved:  "approved", session.ClassRejected: "rejected",
		session.ClassReviewed:        "approved by the reviewer",
		session.ClassAsked:           "waits for your answer",
		session.ClassUnsigned:        "the gates pass, the agent did not report",
		session.ClassNoReview:        "the reviewer gave no verdict",
		session.ClassGateChangedTree: "files changed while a gate ran", session.ClassInfraError: "could not be judged",
		session.ClassTimeout: "the tests timed out",
	}[d.Class]; ok {
		return text
	}
	if g := j.Red(); g != nil && g.Class == session.ClassTargetFailed {
		return fmt.Sprintf("%d new %s as intended", len(g.Targets), plural(len(g.Targets), "test fails", "tests fail"))
	}
	c := session.CountsOf(j.Gates)
	if c.Total() == 0 {
		return d.Reason
	}
	text := fmt.Sprintf("%d/%d tests pass", c.Passed, c.Total())
	if c.Flaky > 0 {
		text += fmt.Sprintf(", %d flaky", c.Flaky)
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// oneLine cuts text to one line of at most max characters.
func oneLine(s string, max int) string {
	s = strings.Join(strings.Fields(s), " ")
	r := []rune(s)
	if len(r) <= max {
		return s
	}
	s = string(r[:max-1])
	if space := strings.LastIndexByte(s, ' '); space > len(s)/2 { // half a word may be half a secret
		s = s[:space]
	}
	return s + "…"
}

// ledgerMessage is the subject of a ledger commit, so that `git log` of a ledger reads as a history.
func ledgerMessage(id session.ID, what string) string {
	return fmt.Sprintf("%s: %s\n\nWfs-Session: %s\n", id, oneLine(what, 72), id.Trailer())
}
