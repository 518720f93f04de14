package present

import (
	"strings"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Run is the output of `wfs show --run --json`: the result of one run, and the events of its agent.
type Run struct {
	Version int                     `json:"version"`
	ID      session.ID              `json:"id"`
	RunID   string                  `json:"run_id"`
	Started *session.AttemptStarted `json:"started,omitempty"`
	Result  *session.RunResult      `json:"result,omitempty"` // nil while it runs, or if it was cut off
	Logs    string                  `json:"logs,omitempty"`   // directory on this machine
	Events  []agents.Record         `json:"events"`
}

// Run prints a run's result and the events of its agent.
func (c *Screen) Run(j *Run) {
	if s := j.Started; s != nil {
		c.Out("%s  lap %d  attempt %d  run %s", s.Phase, s.Lap, s.Attempt, j.RunID)
	}
	if r := j.Result; r != nil {
		c.Out("%s", runText(*r))
		if text := usedText(r); text != "" {
			c.Out("%s", text)
		}
	} else {
		c.Out("its end is not recorded: it still runs, or was cut off")
	}
	if j.Logs == "" {
		c.Out("no log of it is left on this machine")
		return
	}
	c.Out("logs: %s", j.Logs)
	c.Records(j.Events)
}

// Records prints agent events, each with the time since the first event.
func (c *Screen) Records(list []agents.Record) {
	for _, r := range list {
		head := Clock(r.At.Sub(list[0].At))
		for i, line := range recordLines(r.Event) {
			if i > 0 {
				head = ""
			}
			c.Out("%8s  %s", head, line)
		}
	}
}

// recordLines describes an agent event in lines. It returns the agent's messages in full.
func recordLines(e agents.Event) []string {
	switch e.Kind {
	case agents.Text:
		return strings.Split(strings.TrimSpace(safetext.Strip(Answered(e.Text))), "\n")
	case agents.Usage: // Run prints the total
		return nil
	}
	if text := AgentText(e, true); text != "" {
		return []string{text}
	}
	return nil
}

// usedText returns the agent's name and its usage: "claude 2.1.329 $0.42 41k tokens 12 tool calls 2 refused".
func usedText(r *session.RunResult) string {
	var p Parts
	p.Add(r.Agent != "", "%s", strings.TrimSpace(r.Agent+" "+r.AgentVersion))
	p.Add(r.Model != "", "%s", r.Model)
	p.Add(r.CostUSD+r.EstimatedUSD > 0, "%s", USD(r.Usage()))
	p.Add(r.Tokens.Sum() > 0, "%s", Tokens(r.Tokens))
	p.Add(r.Turns > 0, "%s", N(r.Turns, "turn"))
	p.Add(r.Tools > 0, "%s", N(r.Tools, "tool call"))
	p.Add(r.Denials > 0, "%d refused", r.Denials)
	return strings.Join(p, "  ")
}
