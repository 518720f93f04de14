package present

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present/ways"
	"github.com/wfs-dev/wfs/internal/safetext"
)

// AmountText describes an amount: "2 checkpoints, 3 changed files +4 -1, 5 min of work".
func AmountText(m ways.Amount) string {
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

var steps = map[string]string{"attempt": "the agent was running, and had not ended",
	"gates": "the agent had ended; its work is not judged yet", "verdict": "it was judged; its checkpoint is missing"}

// cutOff prints what an interruption cut off, and when. It prints nothing for a session that was not interrupted.
func (c report) cutOff() {
	d, r := c.of, c.of.Recovery
	if r == nil {
		return
	}
	what := fmt.Sprintf("complete up to checkpoint %d", d.Checkpoint)
	if !r.Complete {
		what = fmt.Sprintf("cut off: attempt %d at %s: %s", r.Attempt, d.Phase, steps[r.Step])
	}
	c.Out("%s; last sign of life %s", what, Ago(r.LastSign, c.Clock()))
}

// Recovery prints the ways to continue after an interruption, numbered, with what each keeps and loses.
func (c *Screen) Recovery(r *ways.Recovery) {
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
		c.OutAt(wide+7, "%s keeps %s; loses %s", strings.Repeat(" ", wide+6), AmountText(o.Keeps), AmountText(o.Loses))
	}
}
