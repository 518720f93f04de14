package report

import (
	"html/template"
	"math"
	"slices"

	"github.com/wfs-dev/wfs/cmd/internal/svg"
	"github.com/wfs-dev/wfs/cmd/internal/views"
)

// mostNumbers is the maximum number of plots of numbers that gates read.
const mostNumbers = 6

// Drawing is a plot with its caption.
type Drawing struct {
	Caption string
	SVG     template.HTML
}

// Plots draws tests, time, cost, tokens and the numbers of gates. What was never measured is not drawn, and what would
// be compared with nothing neither.
func Plots(m *views.Metrics) (list []Drawing) {
	laps := m.Laps()
	list = draw(list, svg.Lines, 2, testsPlot(m))
	list = draw(list, svg.Bars, 1, bars("Time by phase", svg.Seconds, m.Phases, measure{"agent", agentTime},
		measure{"gates", gateTime}))
	list = draw(list, svg.Bars, 2, bars("Time by gate", svg.Seconds, m.Gates, measure{"time", gateTime}))
	list = draw(list, svg.Bars, 2, bars("Cost by lap", svg.Dollars, laps, measure{string(svg.Dollars), dollars}))
	list = draw(list, svg.Bars, 2, bars("Tokens by lap", "tokens", laps, measure{"tokens", tokens}))
	for _, n := range m.Numbers[:min(len(m.Numbers), mostNumbers)] {
		list = draw(list, svg.Lines, 2, numberPlot(&n))
	}
	return list
}

// draw adds a plot if it has a value other than zero, and at least that many labels.
func draw(list []Drawing, how func(svg.Plot) template.HTML, labels int, p svg.Plot) []Drawing {
	for _, s := range p.Series {
		if len(p.Labels) >= labels && slices.ContainsFunc(s.Values, func(v float64) bool { return v != 0 }) {
			return append(list, Drawing{p.Title, how(p)})
		}
	}
	return list
}

// measure is something measured of a sum, with its name.
type measure struct {
	name string
	of   func(*views.Sum) float64
}

func agentTime(s *views.Sum) float64 { return millis(s.RunMillis).Seconds() }
func gateTime(s *views.Sum) float64  { return millis(s.GateMillis).Seconds() }
func dollars(s *views.Sum) float64   { return s.Used.USD.USD() }
func tokens(s *views.Sum) float64    { return float64(s.Used.Tokens.Sum()) }

// bars compares sums by some measures.
func bars(title string, unit svg.Unit, sums []views.Sum, by ...measure) svg.Plot {
	p := svg.Plot{Title: title, Unit: unit, Series: make([]svg.Series, len(by))}
	for _, s := range sums {
		p.Labels = append(p.Labels, s.Name)
		for i, m := range by {
			p.Series[i].Name, p.Series[i].Values = m.name, append(p.Series[i].Values, m.of(&s))
		}
	}
	return p
}

func testsPlot(m *views.Metrics) svg.Plot {
	passing, failing := svg.Series{Name: "passing"}, svg.Series{Name: "failing"}
	p := svg.Plot{Title: "Tests by attempt", Unit: "tests", X: "checkpoint"}
	for _, a := range m.Attempts {
		if a.Tests.Total() == 0 {
			continue
		}
		p.Labels = append(p.Labels, at(a.Place).Words)
		passing.Values = append(passing.Values, float64(a.Tests.Passed))
		failing.Values = append(failing.Values, float64(a.Tests.Failed+a.Tests.Errors))
	}
	p.Series = []svg.Series{passing, failing}
	return p
}

func numberPlot(n *views.Series) svg.Plot {
	values := svg.Series{Name: n.Name}
	p := svg.Plot{Title: n.Name + " (" + n.Gate + ")", X: "checkpoint"}
	if n.Base != nil {
		p.Labels, values.Values = append(p.Labels, "base"), append(values.Values, *n.Base)
	}
	for _, v := range n.Values {
		value := v.Value
		if math.IsInf(value, 0) {
			value = math.NaN()
		}
		p.Labels, values.Values = append(p.Labels, at(views.Place{Checkpoint: v.Checkpoint}).Words), append(values.Values, value)
	}
	p.Series = []svg.Series{values}
	return p
}
