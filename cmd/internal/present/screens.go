package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// report prints one session, for a Screen.
type report struct {
	*Screen
	of *Session
}

// Standing prints the state of a session, and what an interruption cut off.
func (c *Screen) Standing(d *Session, head string) {
	r := report{c, d}
	r.standing(head, false)
	r.cutOff()
}

// standing prints the state of a session. For a blocked or completed session it prints the full screen, and returns
// true: the caller then needs to add little. For any other session it prints a few lines, and returns false.
func (c report) standing(head string, current bool) bool {
	s := c.of.Of
	switch {
	case s.Status == session.StatusBlocked && !(current && s.Blocked.Hint == "wfs resume "+string(s.ID)):
		c.blocked(head)
	case s.Status == session.StatusCompleted && !Unjudged(s) && !s.AsksMore():
		c.done(head)
	default:
		c.Out("%s%s", head, Standing(s))
		for _, line := range StoppedHere(s, c.Clock(), current) {
			c.Out("  %s", line)
		}
		if text := changedTests(c.of.ChangedTests); text != "" && s.Status == session.StatusWaiting {
			c.fact("changed", "tests: %s", text)
		}
		return false
	}
	if text := used(c.of); text != "" {
		c.fact("used", "%s", text)
	}
	return true
}

// fact prints one labelled row.
func (c report) fact(label, format string, args ...any) {
	c.OutAt(13, "  %s  %s", Pad(label, 9), fmt.Sprintf(format, args...))
}

func (c report) blocked(head string) {
	s := c.of.Of
	at, why, evidence := string(s.Phase), blockedWords[s.Blocked.Reason], s.Blocked.Evidence
	if lap := items.LapName(s, s.Lap); lap != "" {
		at += ", " + lap
	}
	if s.Blocked.Reason == session.BlockBreaker && len(evidence) > 0 {
		why, evidence = strings.TrimPrefix(evidence[0], string(s.Phase)+": "), evidence[1:]
	}
	c.Out("%s%s in %s: %s", head, Bad("BLOCKED"), at, why)
	for _, line := range evidence {
		rest, last := strings.CutPrefix(line, "last: ")
		if !last {
			c.Out("  %s", line)
		} else if !slices.ContainsFunc(s.LastGates, func(g session.GateResult) bool { return len(g.Failing) > 0 }) {
			c.fact("last", "%s", rest)
		}
	}
	for _, g := range s.LastGates {
		if g.Verdict != session.Pass {
			c.failing(g)
		}
	}
	c.tried()
}

func (c report) failing(g session.GateResult) {
	label := "failing"
	for _, t := range g.Failing[:min(len(g.Failing), 3)] {
		c.fact(label, "%s", shortTest(t))
		label = ""
	}
	if n := len(g.Failing) - 3; n > 0 {
		c.fact("", "and %d more", n)
	}
	if g.FirstError != "" {
		c.fact(label, "%s", g.FirstError)
	}
}

// tried prints the last failed attempts at the current phase, and the newest checkpoint that passed.
func (c report) tried() {
	s := c.of.Of
	label, way := "tried", s.Way()
	tried := slices.DeleteFunc(slices.Clone(way), func(cp session.Checkpoint) bool {
		return cp.Trigger != session.TriggerAttempt || cp.Phase != s.Phase || cp.Lap != s.Lap || cp.Verdict == session.Pass
	})
	for _, cp := range tried[max(0, len(tried)-3):] {
		said := ""
		if Refuted(s, cp.Number) {
			said = "said done"
		}
		if below := s.At(cp.On); below != nil {
			row := fmt.Sprintf("@%d %s  %s", cp.Number, Pad(c.Facts.FilesBetween(below.Tree, cp.Tree), 20), said)
			c.fact(label, "%s", strings.TrimRight(row, " "))
			label = ""
		}
	}
	for _, cp := range slices.Backward(way) {
		if cp.Number > 0 && cp.Verdict == session.Pass {
			c.fact("last good", "@%d: %s", cp.Number, safetext.Line(strings.TrimPrefix(cp.Summary, "pass: "), 60))
			break
		}
	}
}

// Refuted reports whether the agent claimed at a checkpoint to be done, and gates disagreed.
func Refuted(s *session.Session, checkpoint int) bool {
	return slices.ContainsFunc(s.StillRefuted(), func(r session.Refuted) bool { return r.Checkpoint == checkpoint })
}

func (c report) done(head string) {
	s := c.of.Of
	text := fmt.Sprintf(" at @%d", s.Current)
	if n := len(s.Items); n > 0 {
		text += fmt.Sprintf(": %d of %s", n-len(items.Open(s)), N(n, "item"))
	} else if items.ApprovedInTheEnd(s, s.Current) {
		text += ": you approved the work"
	}
	if skipped := WithoutVerdict(s.SkippedPhases); skipped != "" {
		text += ", with " + skipped
	}
	proof := ProofOf(s)
	c.Out("%s%s%s%s", head, Good("DONE"), text, unprovenGate(proof))
	shown := map[int]string{}
	for _, cp := range s.Way() {
		if len(cp.Targets) > 0 && cp.Next != workflows.Done && cp.NextLap == cp.Lap {
			var names []session.TestID
			for _, t := range cp.Targets {
				if c.of.ran(t) {
					names = append(names, shortTest(t))
				}
			}
			shown[cp.Lap] = cmp.Or(safetext.First(names, 5, ", "), "no test left")
		}
	}
	for _, item := range items.States(s) {
		if !s.Laps || item.State != session.ItemDelivered {
			delete(shown, item.Number)
		}
	}
	c.items(shown)
	if t := TestsOf(s); t != nil && t.Now != nil {
		c.fact("tests", "%s", t)
	}
	if ran := gatesRan(s); len(ran) > 0 {
		c.fact("gates", "%s", strings.Join(ran, ", "))
	}
	if proof != nil && proof.Verdict == session.Pass {
		c.fact("clean", "%s", proof.Reason)
	}
	if beware := c.of.Beware; len(beware) > 0 {
		c.fact("beware", "%s", strings.Join(beware, "; "))
	}
}

// ran reports whether a test is in the newest evidence. Without evidence it returns true.
func (j *Session) ran(t session.TestID) bool {
	for _, tests := range j.Evidence.Gates {
		if _, ok := tests[t]; ok {
			return true
		}
	}
	return len(j.Evidence.Gates) == 0
}

// shortTest returns the name of a Go test without its package. It returns other names unchanged.
func shortTest(id session.TestID) session.TestID {
	return id[strings.LastIndex(string(id), ".Test")+1:]
}

// used returns the time and money that a session used, and how many of its agent's claims were true.
func used(d *Session) string {
	s := d.Of
	var p Parts
	took := ms(s.Spent.RunMillis + s.Spent.GateMillis)
	p.Add(took >= time.Second, "%s", Lasting(took))
	p.Add(d.Cost != "", "%s", d.Cost)
	claims := Claims(d.Claims, d.Refuted)
	return strings.TrimSuffix(strings.TrimPrefix(strings.Join(p, ", ")+"; "+claims, "; "), "; ")
}
