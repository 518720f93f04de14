package present

import (
	"fmt"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// MostSaid is how many names one line lists at most. JSON output lists all names.
const MostSaid = 10

// Lacks lists in one line the files that are missing from a checkpoint. It returns "" if the checkpoint is complete.
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
	return safetext.First(names, MostSaid, ", ")
}

// HeldName returns the path of a file that a checkpoint leaves out, with the reason in parentheses.
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

// PhaseColumns returns how wide the phase column of a list of checkpoints has to be.
func PhaseColumns(list []session.Checkpoint) int {
	wide := 9
	for _, c := range list {
		wide = max(wide, min(16, safetext.Width(string(c.Phase))))
	}
	return wide
}

// CheckpointLine describes a checkpoint in one line of a list. `wide` is the width of the phase column.
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
	if Refuted(s, c.Number) {
		line = Join(line, Notable("  (the agent said it is done)"))
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
