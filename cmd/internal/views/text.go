package views

import (
	"fmt"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
)

// Ratio formats a part of a whole, such as "20 of 30". It returns "-" if the whole is zero.
func Ratio(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// Total returns the sum of all phases, named "all".
func (m *Metrics) Total() Sum {
	all := Sum{Name: "all"}
	for _, p := range m.Phases {
		all.Attempts, all.Passed = all.Attempts+p.Attempts, all.Passed+p.Passed
		all.RunMillis, all.GateMillis = all.RunMillis+p.RunMillis, all.GateMillis+p.GateMillis
		all.Used, all.Tools = all.Used.Plus(p.Used), all.Tools+p.Tools
	}
	return all
}

// Cells returns the columns of a table of sums: name, passed attempts, time of agents, time of gates, cost, tokens,
// tool calls. What was not reported is "-".
func (p *Sum) Cells() []string {
	clock := func(millis int64) string { return present.Clock(time.Duration(millis) * time.Millisecond) }
	cells := []string{p.Name, Ratio(p.Passed, p.Attempts), clock(p.RunMillis), clock(p.GateMillis), "-", "-", "-"}
	if p.Used.USD > 0 {
		cells[4] = present.USD(p.Used)
	}
	if n := p.Used.Tokens.Sum(); n > 0 {
		cells[5] = present.Count(n)
	}
	if p.Tools > 0 {
		cells[6] = fmt.Sprint(p.Tools)
	}
	return cells
}

// SharesText lists the shares of `time` or `money`, such as "60 % agents in GREEN, 40 % gates in GREEN".
func SharesText(list []Share, what string) string {
	var parts []string
	for _, s := range list {
		if s.What == what {
			parts = append(parts, fmt.Sprintf("%d %% %s", s.Percent, s.Of))
		}
	}
	return strings.Join(parts, ", ")
}

// Says returns the pattern as a sentence, without its checkpoints.
func (p Pattern) Says() string {
	attempts := present.N(p.Times, "attempt")
	if p.What == "agent" { // the runner of an agent without a name
		p.What = "the agent"
	}
	switch p.Kind {
	case "claim":
		return fmt.Sprintf("%s said %s that it is done; the gates disagreed with %d", p.What, present.N(p.Of, "time"),
			p.Times)
	case "run":
		return fmt.Sprintf("%s %s in %s", p.What, p.Text, attempts)
	case "phase":
		return fmt.Sprintf("%s: %d of %d attempts did not pass", p.What, p.Times, p.Of)
	case "failure":
		return fmt.Sprintf("%s failed in the same way in %s (%s)", p.What, attempts, p.Text)
	case "test":
		return fmt.Sprintf("%s failed in %s", p.What, attempts)
	case "flaky":
		return fmt.Sprintf("%s had different results on the same files in %s", p.What, attempts)
	case "denied":
		return fmt.Sprintf("%s was denied in %s", p.What, attempts)
	}
	return fmt.Sprintf("%s given up by going back", attempts)
}
