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
	k := c.of.Closing(c.Facts, c.Clock(), current)
	c.Out("%s%s", head, k.Head)
	c.items(k.shown)
	for _, row := range k.Rows {
		if row.Whole {
			c.Out("  %s", row.Text)
		} else {
			c.OutAt(13, "  %s  %s", Pad(row.Label, 9), row.Text)
		}
	}
	return k.full
}

// Closing says where a session stands: what the last screen of a run prints.
type Closing struct {
	Head  Styled
	Rows  []Row
	shown map[int]string // of completed work: the tests that show the items, by number; nil: the screen has no items
	full  bool           // it says all that there is to say about a blocked or completed session
}

// Row is a labelled row. A row without a label continues the one above, or takes the whole line.
type Row struct {
	Label string `json:"label,omitempty"`
	Text  string `json:"text"`
	Whole bool   `json:"-"`
}

func (k *Closing) add(label, format string, args ...any) {
	k.Rows = append(k.Rows, Row{Label: label, Text: fmt.Sprintf(format, args...)})
}

// Closing returns where a session stands. `current` says that its branch is checked out here.
func (j *Session) Closing(facts Facts, now time.Time, current bool) Closing {
	s := j.Of
	var k Closing
	switch {
	case s.Status == session.StatusBlocked && !(current && s.Blocked.Hint == "wfs resume "+string(s.ID)):
		k.blocked(facts, s)
	case s.Status == session.StatusCompleted && !Unjudged(s) && !s.AsksMore():
		k.done(j)
	default:
		k.Head = Standing(s)
		for _, line := range StoppedHere(s, now, current) {
			k.Rows = append(k.Rows, Row{Text: line, Whole: true})
		}
		if text := changedTests(j.ChangedTests); text != "" && s.Status == session.StatusWaiting {
			k.add("changed", "tests: %s", text)
		}
		return k
	}
	if text := used(j); text != "" {
		k.add("used", "%s", text)
	}
	k.full = true
	return k
}

func (k *Closing) blocked(facts Facts, s *session.Session) {
	at, why, evidence := string(s.Phase), blockedWords[s.Blocked.Reason], s.Blocked.Evidence
	if lap := items.LapName(s, s.Lap); lap != "" {
		at += ", " + lap
	}
	if s.Blocked.Reason == session.BlockBreaker && len(evidence) > 0 {
		why, evidence = strings.TrimPrefix(evidence[0], string(s.Phase)+": "), evidence[1:]
	}
	k.Head = Join(Bad("BLOCKED"), fmt.Sprintf(" in %s: %s", at, why))
	for _, line := range evidence {
		rest, last := strings.CutPrefix(line, "last: ")
		if !last {
			k.Rows = append(k.Rows, Row{Text: line, Whole: true})
		} else if !slices.ContainsFunc(s.LastGates, func(g session.GateResult) bool { return len(g.Failing) > 0 }) {
			k.add("last", "%s", rest)
		}
	}
	for _, g := range s.LastGates {
		if g.Verdict != session.Pass {
			k.failing(g)
		}
	}
	k.tried(facts, s)
}

func (k *Closing) failing(g session.GateResult) {
	label := "failing"
	for _, t := range g.Failing[:min(len(g.Failing), 3)] {
		k.add(label, "%s", ShortTest(t))
		label = ""
	}
	if n := len(g.Failing) - 3; n > 0 {
		k.add("", "and %d more", n)
	}
	if g.FirstError != "" {
		k.add(label, "%s", g.FirstError)
	}
}

// tried adds the last failed attempts at the current phase, and the newest checkpoint that passed.
func (k *Closing) tried(facts Facts, s *session.Session) {
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
			row := fmt.Sprintf("@%d %s  %s", cp.Number, Pad(facts.FilesBetween(below.Tree, cp.Tree), 20), said)
			k.add(label, "%s", strings.TrimRight(row, " "))
			label = ""
		}
	}
	for _, cp := range slices.Backward(way) {
		if cp.Number > 0 && cp.Verdict == session.Pass {
			k.add("last good", "@%d: %s", cp.Number, safetext.Line(strings.TrimPrefix(cp.Summary, "pass: "), 60))
			break
		}
	}
}

// Refuted reports whether the agent claimed at a checkpoint to be done, and gates disagreed.
func Refuted(s *session.Session, checkpoint int) bool {
	return slices.ContainsFunc(s.StillRefuted(), func(r session.Refuted) bool { return r.Checkpoint == checkpoint })
}

func (k *Closing) done(d *Session) {
	s := d.Of
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
	k.Head = Join(Good("DONE"), text, unprovenGate(proof))
	k.shown = map[int]string{}
	shown := d.Shown()
	for _, item := range items.States(s) {
		if names, ok := shown[item.Number]; ok && s.Laps && item.State == session.ItemDelivered {
			k.shown[item.Number] = cmp.Or(safetext.First(names, 5, ", "), "no test left")
		}
	}
	if t := TestsOf(s); t != nil && t.Now != nil {
		k.add("tests", "%s", t)
	}
	if ran := gatesRan(s); len(ran) > 0 {
		k.add("gates", "%s", strings.Join(ran, ", "))
	}
	if proof != nil && proof.Verdict == session.Pass {
		k.add("clean", "%s", proof.Reason)
	}
	if len(d.Beware) > 0 {
		k.add("beware", "%s", strings.Join(d.Beware, "; "))
	}
}

// Shown returns the tests of the laps that ended, by lap. Of completed work with a checklist it leaves out tests that
// do not exist any more.
func (j *Session) Shown() map[int][]session.TestID {
	shown := map[int][]session.TestID{}
	for _, cp := range j.Of.Way() {
		if len(cp.Targets) > 0 && cp.Next != workflows.Done && cp.NextLap == cp.Lap {
			shown[cp.Lap] = nil
			for _, t := range cp.Targets {
				if j.ran(t) {
					shown[cp.Lap] = append(shown[cp.Lap], ShortTest(t))
				}
			}
		}
	}
	return shown
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

// ShortTest returns the name of a Go test without its package. It returns other names unchanged.
func ShortTest(id session.TestID) session.TestID {
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
