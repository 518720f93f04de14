package present

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Recovery says what an interruption cut off, and how the user can continue.
type Recovery struct {
	// Attempt is the attempt that was cut off. It is 0 if no attempt was, or if its files are a checkpoint already.
	Attempt int `json:"attempt,omitempty"`
	// Step is the last operation: attempt (the agent was at work), gates (its run had ended), verdict (it was judged),
	// or checkpoint. Only a checkpoint is complete.
	Step     string           `json:"step"`
	Complete bool             `json:"complete"`
	LastSign time.Time        `json:"last_sign"` // last sign of life of the run: an event, a backup or output of the agent
	Options  []RecoveryOption `json:"options"`
}

// RecoveryOption is one way to continue after an interruption.
type RecoveryOption struct {
	// Type is complete (keep the files), backup, checkpoint, phase, lap (go back to where it began) or fresh.
	Type        string `json:"type"`
	What        string `json:"what"` // for people
	Command     string `json:"command"`
	Checkpoint  int    `json:"checkpoint"` // where the session will be
	Keeps       Amount `json:"keeps"`
	Loses       Amount `json:"loses"` // what the work tree lacks afterwards; it is saved first
	Recommended bool   `json:"recommended,omitempty"`
}

// Amount measures work that is kept or lost.
type Amount struct {
	Checkpoints int   `json:"checkpoints,omitempty"`
	Files       int   `json:"files,omitempty"` // files that differ
	Added       int   `json:"added,omitempty"` // lines
	Removed     int   `json:"removed,omitempty"`
	Millis      int64 `json:"millis,omitempty"` // time that agents and gates worked
}

// AmountOf counts files and lines.
func AmountOf(files []session.FileLines) (m Amount) {
	m.Files = len(files)
	for _, f := range files {
		m.Added, m.Removed = m.Added+f.Added, m.Removed+f.Removed
	}
	return m
}

func (m Amount) String() string {
	var p Parts
	p.Add(m.Checkpoints > 0, "%s", N(m.Checkpoints, "checkpoint"))
	if m.Files > 0 {
		text := N(m.Files, "changed file")
		for _, x := range []struct {
			sign string
			n    int
		}{{"+", m.Added}, {"-", m.Removed}} {
			if x.n > 0 {
				text += fmt.Sprintf(" %s%d", x.sign, x.n)
			}
		}
		p.Add(true, "%s", text)
	}
	p.Add(m.Millis >= 1000, "%s of work", Lasting(ms(m.Millis)))
	if len(p) == 0 {
		return "nothing"
	}
	return strings.Join(p, ", ")
}

// BeforeInterruption returns the number of the newest checkpoint that does not hold the changes of an interrupted
// attempt. The user can go back to it to discard those changes.
func BeforeInterruption(s *session.Session) int {
	n := s.Current
	for n > 0 && s.At(n).Trigger == session.TriggerInterrupted {
		n = s.At(n).On
	}
	return n
}

// Begins returns the checkpoints, at or before checkpoint n, with which the current phase and the current lap began.
func Begins(s *session.Session, n int) (phase, lap int) {
	way := slices.DeleteFunc(slices.Clone(s.Way()), func(c session.Checkpoint) bool { return c.Number > n })
	back := func(i int, in func(session.Checkpoint) bool) int {
		for i > 0 && in(way[i]) {
			i--
		}
		return i
	}
	i := back(len(way)-1, func(c session.Checkpoint) bool { return c.Lap == s.Lap && c.Phase == s.Phase })
	j := back(i, func(c session.Checkpoint) bool { return c.Lap == s.Lap })
	return way[i].Number, way[j].Number
}

var steps = map[string]string{"attempt": "the agent was at work; that is not complete",
	"gates": "the agent had ended; its work is not judged yet", "verdict": "it was judged; its checkpoint is missing"}

// cutOff prints what an interruption cut off, and when.
func (c report) cutOff() {
	r := c.of.Recovery
	if r == nil {
		return
	}
	what := fmt.Sprintf("last complete: checkpoint %d", c.of.Checkpoint)
	if !r.Complete {
		what = fmt.Sprintf("attempt %d at %s: %s", r.Attempt, c.of.Phase, steps[r.Step])
	}
	c.Out("cut off: %s; last sign of life %s", what, Ago(r.LastSign, c.Clock()))
}

// Recovery prints the ways to continue after an interruption, numbered, with what each keeps and loses.
func (c *Screen) Recovery(r *Recovery) {
	c.Out("\nways on; all files are saved first, and wfs undo takes a move back")
	wide := 0
	for _, o := range r.Options {
		wide = max(wide, safetext.Width(o.What))
	}
	for i, o := range r.Options {
		mark := ""
		if o.Recommended {
			mark = "   (recommended)"
		}
		c.OutAt(wide+7, "  %d  %s  %s%s", i+1, Pad(o.What, wide), o.Command, mark)
		c.OutAt(wide+7, "%s keeps %s; loses %s", strings.Repeat(" ", wide+6), o.Keeps, o.Loses)
	}
}
