package finish

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// handedOver has the contents of the handover commit's message that are not in the session.
type handedOver struct {
	gates    []session.GateResult // results on the tree of the commit
	changed  []session.Change     // changes since the base
	lines    []session.FileLines  // lines of these changes, by file
	left     []string             // phases that did not pass, files with a key
	unproven string               // why it was not tested in a clean tree, "" if it was
}

// handoverMessage returns the message of the handover commit: the goal, the items, the gates, approvals, and all that
// is missing. A full report also has the agent's claims that the gates refuted.
func (h *Finisher) handoverMessage(c *session.Checkpoint, o Options, told handedOver) string {
	s, unproven := &h.S, told.unproven
	var b strings.Builder
	subject := o.Subject
	if subject == "" {
		subject = safetext.OneLine(s.Headline(), 72)
	}
	b.WriteString(subject + "\n\n")
	if g := safetext.OneLine(s.Goal, 2000); o.Subject != "" || s.Title != "" || len([]rune(g)) > 72 {
		b.WriteString(g + "\n\n")
	}
	for _, item := range items.States(s) {
		says := ""
		if item.Settled() {
			if item.State != session.ItemDelivered {
				says = " (" + item.Says() + ")"
			}
			fmt.Fprintf(&b, "- %s%s\n", safetext.OneLine(item.Text, 200), says)
		}
	}
	if len(s.Items) > len(items.Open(s)) {
		b.WriteString("\n")
	}
	if o.Report == workflows.ReportFull {
		h.fullReport(&b, c, told.gates, unproven)
	} else {
		if o.Report != workflows.ReportNone {
			fmt.Fprintf(&b, "Tested: %s\n", h.tested(told))
			b.WriteString(h.lessTests(told))
			for _, a := range items.Approvals(s, &h.Plan.Workflow) {
				fmt.Fprintf(&b, "Approved: %s, by a %s\n", a.Phase, a.By)
			}
			if items.ApprovedInTheEnd(s, c.Number) {
				b.WriteString("Approved: the whole work, by a person\n")
			}
		}
		if unproven != "" {
			b.WriteString(unproven + "\n")
		}
	}
	for _, item := range items.Open(s) {
		fmt.Fprintf(&b, "Not done: %s\n", safetext.OneLine(item.Text, 200))
	}
	if o.Anyway != "" {
		for _, what := range append(h.unpassed(c), told.left...) {
			fmt.Fprintf(&b, "Not done: %s\n", safetext.OneLine(what, 200))
		}
		fmt.Fprintf(&b, "Not judged: %s\n", safetext.OneLine(o.Anyway, 500))
	}
	skipped := slices.Clone(s.SkippedPhases)
	for _, p := range skipped {
		if p.Unjudged() {
			fmt.Fprintf(&b, "Not judged: %s, lap %d: %s\n", p.Phase, p.Lap, safetext.OneLine(p.Why, 200))
		}
	}
	if skipped = slices.DeleteFunc(skipped, session.SkippedPhase.Unjudged); len(skipped) > 0 {
		b.WriteString("\nSkipped phases:\n")
		for _, p := range skipped {
			fmt.Fprintf(&b, "- %s, lap %d: %s\n", p.Phase, p.Lap, cmp.Or(safetext.OneLine(p.Why, 200), "no reason given"))
		}
	}
	b.WriteString(tamperedText(s))
	if o.WithoutCarried {
		b.WriteString("\nChanges that were uncommitted when the session began are left out; the gates ran with them.\n")
	}
	fmt.Fprintf(&b, "\nWfs-Session: %s\nWfs-Checkpoint: %04d\n", s.ID.Trailer(), c.Number)
	return b.String()
}

// tested lists the gates that passed on the handed-over tree: their commands, their numbers of tests now and before,
// and files that a command names and the session changed.
func (h *Finisher) tested(told handedOver) string {
	var list []string
	for _, g := range told.gates {
		// a gate of this kind runs no command, it only looks at files
		if g.Verdict != session.Pass || g.Where == session.InTree {
			continue
		}
		text := g.Gate
		for _, p := range h.Plan.Baseline {
			if p.Name == g.Gate {
				text = safetext.OneLine(cmp.Or(p.Run.Text(), g.Gate), 60)
			}
		}
		for _, word := range strings.Fields(text) {
			if slices.ContainsFunc(told.changed, func(c session.Change) bool { return c.Path == path.Clean(word) }) {
				text += fmt.Sprintf(" (%s was changed)", word)
			}
		}
		if n := g.Counts.Passed; n > 0 {
			text += fmt.Sprintf(" (%d passed", n)
			if before, known := testsBefore(&h.S, g.Gate); known {
				text += fmt.Sprintf("; before: %d", before)
			}
			text += ")"
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

// ChangedTest is a test file of an earlier tree that was deleted since, or lost lines.
type ChangedTest struct {
	Path    string `json:"path"`
	Added   int    `json:"added"` // lines
	Removed int    `json:"removed"`
	Deleted bool   `json:"deleted,omitempty"`
}

// ChangedTests returns the test files among changes between two trees that were deleted or lost lines. It leaves out
// files that are new, or only grew.
func ChangedTests(changes []session.Change, lines []session.FileLines,
	holdsTests func(path string) bool) (list []ChangedTest) {
	gone := map[string]bool{}
	for _, c := range changes {
		gone[c.Path] = c.Status == "D"
	}
	for _, l := range lines {
		if holdsTests(l.Path) && (gone[l.Path] || l.Removed > 0) {
			list = append(list, ChangedTest{l.Path, l.Added, l.Removed, gone[l.Path]})
		}
	}
	return list
}

// lessTests lists the base's test files that were deleted, and those that lost lines.
func (h *Finisher) lessTests(told handedOver) string {
	var deleted, changed []string
	for _, t := range ChangedTests(told.changed, told.lines, h.HoldsTests) {
		if t.Deleted {
			deleted = append(deleted, t.Path)
		} else {
			changed = append(changed, fmt.Sprintf("%s (+%d -%d)", t.Path, t.Added, t.Removed))
		}
	}
	text := ""
	if len(deleted) > 0 {
		text += "Deleted tests: " + safetext.OneLine(strings.Join(deleted, ", "), 300) + "\n"
	}
	if len(changed) > 0 {
		text += "Changed tests: " + safetext.OneLine(strings.Join(changed, ", "), 300) + "\n"
	}
	return text
}

// testsBefore returns the number of tests that a gate had on the base, if known.
func testsBefore(s *session.Session, gate string) (n int, known bool) {
	if s.Base0 != nil {
		for _, g := range s.Base0.Gates {
			if g.Gate == gate {
				return g.Counts.Total(), true
			}
		}
	}
	return 0, false
}

// fullReport writes the verdicts of all gates, and the agent's claims that turned out untrue.
func (h *Finisher) fullReport(b *strings.Builder, c *session.Checkpoint, gates []session.GateResult, unproven string) {
	s := &h.S
	laps := ""
	if s.Laps {
		laps = fmt.Sprintf("%d %s, ", items.LapsDone(s), safetext.Word(items.LapsDone(s), "lap", "laps"))
	}
	fmt.Fprintf(b, "Judged by wfs at checkpoint %d, %s%d %s:\n%s", c.Number, laps, s.Tries,
		safetext.Word(s.Tries, "attempt", "attempts"), checkpoint.GateTable(gates))
	if c.Class == session.ClassApproved {
		fmt.Fprintf(b, "%s: approved by a person\n", c.Phase)
	}
	if c.Class == session.ClassReviewed {
		fmt.Fprintf(b, "%s: approved by a reviewing agent\n", c.Phase)
	}
	if unproven != "" {
		b.WriteString("\n" + unproven + "\n")
	}
	if flaky := s.FlakyTests(); len(flaky) > 0 {
		fmt.Fprintf(b, "\nFlaky, ignored: %s\n", safetext.First(flaky, 5, ", "))
	}
	if refuted := s.StillRefuted(); len(refuted) > 0 {
		n := len(refuted)
		fmt.Fprintf(b, "\nThe agent said it was done %d %s; %d true. Not true at:\n", s.Claims,
			safetext.Word(s.Claims, "time", "times"), s.Claims-n)
		for _, r := range refuted {
			fmt.Fprintf(b, "- checkpoint %d, %s: %s\n", r.Checkpoint, r.Phase, safetext.OneLine(r.Reason, 200))
		}
	}
}

// tamperedText lists accepted changes of tests for the message of a finish, one per line, "" for none.
func tamperedText(s *session.Session) string {
	list := s.TamperedOn()
	if len(list) == 0 {
		return ""
	}
	const most = 20
	var b strings.Builder
	b.WriteString("\nExisting tests were weakened or changed:\n")
	for _, t := range list[:min(len(list), most)] {
		fmt.Fprintf(&b, "- %s\n", safetext.OneLine(t.String(), 200))
	}
	if more := len(list) - most; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	return b.String()
}
