package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/wfs-dev/wfs/cmd/internal/svg"
	"github.com/wfs-dev/wfs/cmd/internal/views"
	"github.com/wfs-dev/wfs/session/cost"
)

// mostNumbers is the maximum number of plots of numbers that gates read.
const mostNumbers = 6

// Drawing is a plot with its caption.
type Drawing struct {
	Caption string
	SVG     template.HTML
}

// Plots draws time, cost, tokens and the numbers of gates. What was measured once, or never, is not drawn.
func Plots(m *views.Metrics) (list []Drawing) {
	list = draw(list, svg.Bars, byPhase(m))
	if len(m.Gates) > 1 {
		list = draw(list, svg.Bars, byGate(m))
	}
	list = draw(list, svg.Bars, byLap(m, "Cost by lap", svg.Dollars, func(u cost.Usage) float64 { return u.USD.USD() }))
	list = draw(list, svg.Bars, byLap(m, "Tokens by lap", "tokens",
		func(u cost.Usage) float64 { return float64(u.Tokens.Sum()) }))
	for _, n := range m.Numbers[:min(len(m.Numbers), mostNumbers)] {
		list = draw(list, svg.Lines, numberPlot(&n))
	}
	return list
}

// draw adds a plot that has anything to show.
func draw(list []Drawing, how func(svg.Plot) template.HTML, p svg.Plot) []Drawing {
	for _, s := range p.Series {
		if slices.ContainsFunc(s.Values, func(v float64) bool { return v != 0 }) {
			return append(list, Drawing{p.Title, how(p)})
		}
	}
	return list
}

// plots adds what was measured to the document.
func (d *document) plots(x *Session) {
	for _, p := range append(draw(nil, svg.Lines, x.testsPlot()), Plots(&x.Metrics)...) {
		d.blocks = append(d.blocks, Block{Drawing: p.SVG, Caption: p.Caption})
	}
}

func (x *Session) testsPlot() svg.Plot {
	passing, failing := svg.Series{Name: "passing"}, svg.Series{Name: "failing"}
	p := svg.Plot{Title: "Tests by attempt", Unit: "tests", X: "checkpoint"}
	for _, a := range x.Metrics.Attempts {
		if a.Tests.Total() == 0 {
			continue
		}
		p.Labels = append(p.Labels, at(a.Place).Words)
		passing.Values = append(passing.Values, float64(a.Tests.Passed))
		failing.Values = append(failing.Values, float64(a.Tests.Failed+a.Tests.Errors))
	}
	if len(p.Labels) > 1 {
		p.Series = []svg.Series{passing, failing}
	}
	return p
}

func byPhase(m *views.Metrics) svg.Plot {
	agents, gates := svg.Series{Name: "agent"}, svg.Series{Name: "gates"}
	p := svg.Plot{Title: "Time by phase", Unit: svg.Seconds}
	for _, s := range m.Phases {
		p.Labels = append(p.Labels, s.Name)
		agents.Values = append(agents.Values, float64(s.RunMillis)/1000)
		gates.Values = append(gates.Values, float64(s.GateMillis)/1000)
	}
	p.Series = []svg.Series{agents, gates}
	return p
}

func byGate(m *views.Metrics) svg.Plot {
	time := svg.Series{Name: "time"}
	p := svg.Plot{Title: "Time by gate", Unit: svg.Seconds}
	for _, g := range m.Gates {
		p.Labels, time.Values = append(p.Labels, g.Name), append(time.Values, float64(g.GateMillis)/1000)
	}
	p.Series = []svg.Series{time}
	return p
}

func byLap(m *views.Metrics, title string, unit svg.Unit, of func(cost.Usage) float64) svg.Plot {
	p := svg.Plot{Title: title, Unit: unit, X: "lap"}
	sums := svg.Series{Name: string(unit)}
	for _, a := range m.Attempts {
		label := fmt.Sprintf("lap %d", a.Lap)
		i := slices.Index(p.Labels, label)
		if i < 0 {
			i, p.Labels, sums.Values = len(p.Labels), append(p.Labels, label), append(sums.Values, 0)
		}
		sums.Values[i] += of(a.Used)
	}
	if len(p.Labels) > 1 {
		p.Series = []svg.Series{sums}
	}
	return p
}

func numberPlot(n *views.Series) svg.Plot {
	values := svg.Series{Name: n.Name}
	p := svg.Plot{Title: n.Name + " (" + n.Gate + ")", X: "checkpoint"}
	if n.Base != nil {
		p.Labels, values.Values = append(p.Labels, "base"), append(values.Values, *n.Base)
	}
	for _, v := range n.Values {
		label, value := "", v.Value
		if v.Checkpoint != nil {
			label = fmt.Sprintf("@%d", *v.Checkpoint)
		}
		if math.IsInf(value, 0) {
			value = math.NaN()
		}
		p.Labels, values.Values = append(p.Labels, label), append(values.Values, value)
	}
	if len(p.Labels) > 1 {
		p.Series = []svg.Series{values}
	}
	return p
}
