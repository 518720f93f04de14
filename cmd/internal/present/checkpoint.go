package present

import (
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// MostSaid is how many names are said at once; JSON has all of them.
const MostSaid = 10

// Lacks says in one line what a checkpoint does not hold, "" when it holds everything.
func Lacks(c *session.Checkpoint) string {
	if c == nil || !c.Incomplete {
		return ""
	}
	var names []string
	for _, h := range c.HeldOut {
		names = append(names, HeldName(h))
	}
	for _, s := range c.Skipped {
		names = append(names, fmt.Sprintf("%s (%s)", s.Path, s.Why))
	}
	return Some(names, MostSaid, ", ")
}

// HeldName is what is held out, and why, in a few words.
func HeldName(h session.Held) string {
	why := "it looks like a key"
	switch h.Why {
	case session.HoldSecret:
		why = "contains: " + h.Rule
	case session.HoldSize:
		why = Bytes(h.Bytes)
	case session.HoldNumber:
		why = fmt.Sprintf("%d new files", h.Files)
	case session.HoldName:
		why = "tools fill it"
	}
	return fmt.Sprintf("%s (%s)", h.Path, why)
}

// PhaseColumns is how wide the phases of checkpoints are.
func PhaseColumns(list []session.Checkpoint) int {
	wide := 9
	for _, c := range list {
		wide = max(wide, min(16, safetext.Width(string(c.Phase))))
	}
	return wide
}

// CheckpointLine is one checkpoint in a list of them, whose phases are so wide.
func CheckpointLine(s *session.Session, c session.Checkpoint, wide int) Styled {
	mark := " "
	if c.Number == s.Current {
		mark = "*"
	}
	word := string(c.Verdict)
	if word == "" {
		word = string(c.Trigger)
	}
	line := Join(fmt.Sprintf("%s %3d  %s ", mark, c.Number, Pad(safetext.Cut(string(c.Phase), wide), wide)),
		Judged(c.Verdict, fmt.Sprintf("%-11s", word)), fmt.Sprintf(" %s  %s", c.Code.Short(), c.Summary))
	if text := Cost(c.Used); text != "" {
		line = Join(line, "  ("+text+")")
	}
	if c.Incomplete {
		line = Join(line, Notable("  (incomplete)"))
	}
	if below := s.At(c.On); below != nil && c.Number > 0 && len(c.SkippedPhases) > len(below.SkippedPhases) {
		newest := c.SkippedPhases[len(c.SkippedPhases)-1:]
		line = Join(line, Notable(fmt.Sprintf("  (%s before it)", WithoutVerdict(newest))))
	}
	if c.Deleted != nil {
		line = Join(line, Notable(fmt.Sprintf("  (deletes %d of %d files)", c.Deleted.Files, c.Deleted.Of)))
	}
	return line
}

// letIn says what to type to let something in that is held out, "" when nothing is.
func (c *Screen) letIn(cp *session.Checkpoint) string {
	if i := slices.IndexFunc(cp.Skipped, func(s session.Skip) bool { return s.Rule != "" }); i >= 0 {
		return "remove the key; if it is not a real one: " + c.allow(cp.Skipped[i].Path)
	}
	if len(cp.HeldOut) == 0 {
		return ""
	}
	// A key is the last thing to propose.
	i := slices.IndexFunc(cp.HeldOut,
		func(h session.Held) bool { return h.Why != session.HoldKey && h.Why != session.HoldSecret })
	return "to allow one: " + c.allow(cp.HeldOut[max(i, 0)].Path) + "; to exclude it permanently: add it to .gitignore"
}

func (c *Screen) allow(path string) string {
	return c.Facts.Typed("wfs allow "+safetext.ShellWord(path), "", "")
}

// Lacks tells on standard error what a checkpoint does not hold, and what stands out about it.
func (c *Screen) Lacks(cp *session.Checkpoint, indent string) {
	if cp == nil {
		return
	}
	for _, s := range cp.Skipped[:min(len(cp.Skipped), MostSaid)] {
		c.Note("%snot in the checkpoint: %s (%s)", indent, s.Path, s.Why)
	}
	if n := len(cp.Skipped) - MostSaid; n > 0 {
		c.Note("%snot in the checkpoint: and %d more", indent, n)
	}
	if i := slices.IndexFunc(cp.Skipped, func(s session.Skip) bool { return s.Why == session.SkipNested }); i >= 0 {
		c.Note("%s  to include its commit: git submodule add URL %s, then wfs checkpoint; to ignore it: add it to .gitignore", indent,
			safetext.ShellWord(cp.Skipped[i].Path))
	}
	if len(cp.HeldOut) > 0 {
		c.Note("%sexcluded from the checkpoint: %s", indent,
			Lacks(&session.Checkpoint{Incomplete: true, HeldOut: cp.HeldOut}))
	}
	if text := c.letIn(cp); text != "" {
		c.Note("%s  %s", indent, text)
	}
	c.deletes(c.Note, cp, indent)
}

// deletes says that most files are gone at a checkpoint, and how to get them back.
func (c *Screen) deletes(say func(string, ...any), cp *session.Checkpoint, indent string) {
	if cp.Deleted != nil {
		say("%swarning: checkpoint %d deletes %d of %d files; to go back: %s", indent, cp.Number, cp.Deleted.Files,
			cp.Deleted.Of,
			c.Facts.Typed(fmt.Sprintf("wfs resume @%d", cp.Number-1), "", ""))
	}
}

// Deletes is the same in the answer of a command.
func (c *Screen) Deletes(cp *session.Checkpoint) { c.deletes(c.Out, cp, "") }

// incomplete tells in the answer of a command what the present checkpoint does not hold, and what stands out.
func (c *Screen) incomplete(s *session.Session) {
	cp := s.At(s.Current)
	if cp == nil {
		return
	}
	if text := Lacks(cp); text != "" {
		c.Out("incomplete: checkpoint %d lacks %s", cp.Number, text)
		if text := c.letIn(cp); text != "" {
			c.Out("  %s", text)
		}
	}
	c.Deletes(cp)
	c.Proof(ProofOf(s))
	c.Holdout(s.HoldoutAt(s.Current))
}

// Proof tells of a proof unless it is in order.
func (c *Screen) Proof(p *session.Proof) {
	if p == nil || p.Verdict == session.Pass {
		return
	}
	c.Out("%s", ProofLine(p))
	if len(p.Lacks) > 0 {
		c.Out("  %s", Remedies)
	}
}

// Holdout tells what hold-out tests said, and which of them fail where names are revealed.
func (c *Screen) Holdout(r *session.HoldoutResult) {
	if r == nil {
		return
	}
	c.Out("%s", r.Reason)
	for _, t := range r.Failing[:min(len(r.Failing), 10)] {
		c.Out("  hold-out: %s", t)
	}
}

// Review tells what a reviewer said.
func (c *Screen) Review(r *session.Review) {
	if r == nil {
		return
	}
	c.Out("the reviewer says: %s%s", r.Verdict, By(r.By))
	for _, f := range r.Findings {
		at := f.Path
		if at != "" && f.Line > 0 {
			at += ":" + fmt.Sprint(f.Line)
		}
		if at != "" {
			at += ": "
		}
		c.Out("  %s%s", at, f.What)
	}
	if r.More > 0 {
		c.Out("  and %d more", r.More)
	}
}
