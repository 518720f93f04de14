package svg

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// Plot is what Lines and Bars draw: for each series one value at each label.
type Plot struct {
	Title  string // for the text alternative; the drawing itself has no heading
	Unit   Unit
	Labels []string // along the axis of Lines, or one for each bar
	X      string   // what the labels of Lines are: "checkpoint"
	Series []Series
}

// Series is a row of values, or one part of each bar. A value that is NaN or infinite, and one at the end that does not
// exist, is missing.
type Series struct {
	Name   string
	Values []float64
}

// value returns a value, NaN if there is none.
func (s Series) value(i int) float64 {
	if i < len(s.Values) {
		return sane(s.Values[i])
	}
	return math.NaN()
}

func (p Plot) names() (list []string) {
	for _, s := range p.Series {
		list = append(list, s.Name)
	}
	return list
}

// noun returns what an axis needs as its name. Money and time need none: each tick has its unit.
func (p Plot) noun() string {
	if p.Unit == Seconds || p.Unit == Dollars {
		return ""
	}
	return string(p.Unit)
}

// amount writes a value with its unit.
func (p Plot) amount(v float64) string { return strings.TrimSpace(p.Unit.text(v) + " " + p.noun()) }

var dashes = []string{"", "6 3", "2 2.5", "9 3 2 3", "12 4", "1 4", "6 2 2 2 2 2", "3 5"}

// marks are the outlines of markers around the point to which they are moved.
var marks = []string{"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0", "m-2.8-2.8h5.6v5.6h-5.6z", "m0-3.6l3.4 6.2h-6.8z",
	"m0-4l4 4-4 4-4-4z", "m0 3.6l3.4-6.2h-6.8z", "m-3-3l6 6m0-6l-6 6", "m-3.8 0h7.6m-3.8-3.8v7.6",
	"m-3.6-1.6h7.2v3.2h-7.2z"}

func (c *canvas) mark(i int, x, y float64) {
	c.add(`<path d="M%v %v%s" stroke="currentColor" stroke-width="1.5"/>`, x, y, marks[i])
}

// Lines draws a line for each series over the labels: a gap where a value is missing.
func Lines(p Plot) template.HTML {
	left := len(p.Series)
	p.Series = p.Series[:min(left, len(colours))]
	left -= len(p.Series)
	low, high, whole := math.Inf(1), math.Inf(-1), true
	var alternative []string
	for _, s := range p.Series {
		alternative = append(alternative, p.course(s))
		for i := range p.Labels {
			if v := s.value(i); !math.IsNaN(v) {
				low, high, whole = min(low, v), max(high, v), whole && v == math.Trunc(v)
			}
		}
	}
	if low > high {
		return nothing("lines", p.Title, "There is nothing to draw yet.")
	}
	if left > 0 {
		alternative = append(alternative, fmt.Sprintf("%d more series are not drawn.", left))
	}
	y := p.Unit.axis(low, high, whole && p.noun() != "")

	var c canvas
	top := c.legend(p.names(), func(c *canvas, i int, x, y float64) {
		c.add(`<path d="M%v %vh18" stroke="currentColor" stroke-width="2" stroke-dasharray="%s"/>`, x, y, dashes[i])
		c.mark(i, x+9, y)
	})
	if noun := p.noun(); noun != "" {
		c.text(0, top+11, "start", muted, noun, 200)
		top += 14
	}
	top += 8
	margin := 0.0
	for _, t := range y.ticks() {
		margin = max(margin, wide(y.text(t), 11)+8)
	}
	const tall, right = 140, width - 10
	x0, bottom := margin, top+tall
	yOf := func(v float64) float64 { return bottom - tall*y.at(v) }
	xOf := func(i int) float64 {
		if len(p.Labels) == 1 {
			return (x0 + right) / 2
		}
		return x0 + 6 + (right-x0-12)*float64(i)/float64(len(p.Labels)-1)
	}
	for _, t := range y.ticks() {
		strength := `.2`
		if t == 0 || t == y.low {
			strength = `.6`
		}
		c.add(`<path class="grid" d="M%v %vH%d" stroke="currentColor" opacity="%s"/>`, x0, yOf(t), int(right), strength)
		c.text(x0-6, yOf(t)+4, "end", muted, y.text(t), 100)
	}
	c.labels(p, xOf, bottom)
	for i, s := range p.Series {
		c.line(p, i, s, xOf, yOf)
	}
	h := bottom + 22
	if p.X != "" {
		h += 14
		c.text(right, h-4, "end", muted, p.X, 200)
	}
	return c.picture("lines", p.Title, strings.Join(alternative, " "), width, h)
}

// labels writes as many labels below a plot as there is room for, at equal distances.
func (c *canvas) labels(p Plot, xOf func(int) float64, bottom float64) {
	widest := 0.0
	for _, l := range p.Labels {
		widest = max(widest, wide(short(l, 90), 11)+8)
	}
	every := 1
	if n := len(p.Labels); n > 1 {
		room := (xOf(n-1) - xOf(0)) / float64(n-1)
		every = int(Unit("").step(max(1, widest/room)))
	}
	for i := 0; i < len(p.Labels); i += every {
		c.add(`<path class="grid" d="M%v %vv4" stroke="currentColor" opacity=".6"/>`, xOf(i), bottom)
		half := wide(short(p.Labels[i], 90), 11) / 2
		c.text(min(max(xOf(i), half), width-half), bottom+16, "middle", muted, p.Labels[i], 90)
	}
}

// line draws one series. Each point has a marker if there are few, otherwise some of them, and each that stands alone.
func (c *canvas) line(p Plot, n int, s Series, xOf func(int) float64, yOf func(float64) float64) {
	every := 1
	if len(p.Labels) > 40 {
		every = int(Unit("").step(float64(len(p.Labels)) / 12))
	}
	thick, dash := 2.0, dashes[n]
	if every > 1 { // dashes would be lost in the ups and downs
		thick, dash = 1.2, ""
	}
	c.open(n)
	c.title(s.Name)
	var line, points canvas
	drawn := false // the value before this one exists
	for i := range p.Labels {
		v := s.value(i)
		if math.IsNaN(v) {
			drawn = false
			continue
		}
		command := "L"
		if !drawn {
			command = "M"
		}
		line.add("%s%v %v", command, xOf(i), yOf(v))
		alone := !drawn && (i+1 == len(p.Labels) || math.IsNaN(s.value(i+1)))
		if i%every == 0 || alone {
			points.add("<g>")
			points.title(fmt.Sprintf("%s, %s: %s", name(s.Name), name(p.Labels[i]), p.amount(v)))
			points.mark(n, xOf(i), yOf(v))
			points.add("</g>")
		}
		drawn = true
	}
	c.add(`<path class="line" d="%s" fill="none" stroke="currentColor" stroke-width="%v" stroke-linejoin="round" `+
		`stroke-dasharray="%s"/>%s</g>`, line.String(), thick, dash, points.String())
}

// course says in a sentence how the values of a series went.
func (p Plot) course(s Series) string {
	first, last, low, high, n := -1, 0, 0, 0, 0
	for i := range p.Labels {
		v := s.value(i)
		if math.IsNaN(v) {
			continue
		}
		if n++; first < 0 {
			first, low, high = i, i, i
		}
		if last = i; v < s.value(low) {
			low = i
		}
		if v > s.value(high) {
			high = i
		}
	}
	at := func(i int) string { return p.amount(s.value(i)) + " at " + name(p.Labels[i]) }
	who, missing := name(s.Name), ""
	if n < len(p.Labels) {
		missing = fmt.Sprintf("; %d of %d values are missing", len(p.Labels)-n, len(p.Labels))
	}
	switch {
	case n == 0:
		return who + ": no values."
	case n == 1:
		return fmt.Sprintf("%s: %s%s.", who, at(first), missing)
	case s.value(low) == s.value(high):
		return fmt.Sprintf("%s: always %s, from %s to %s%s.", who, p.amount(s.value(first)), name(p.Labels[first]),
			name(p.Labels[last]), missing)
	}
	return fmt.Sprintf("%s: from %s to %s, lowest %s, highest %s%s.", who, at(first), at(last), at(low), at(high),
		missing)
}

// Bars draws a horizontal bar for each label, with a part for each series. Parts that are missing, or not above zero,
// are left out. Bars after the 40th, and parts after the eighth, are put together.
func Bars(p Plot) template.HTML {
	p = p.gathered()
	totals, sums := make([]float64, len(p.Labels)), make([]float64, len(p.Series))
	all, largest := 0.0, 0
	for i := range p.Labels {
		for n, s := range p.Series {
			totals[i] += s.Values[i]
			sums[n] += s.Values[i]
		}
		if all += totals[i]; totals[i] > totals[largest] {
			largest = i
		}
	}
	if all == 0 {
		return nothing("bars", p.Title, "There is nothing to draw yet.")
	}
	alternative := p.amount(all) + " together"
	for n, s := range p.Series {
		if len(p.Series) > 1 {
			alternative += fmt.Sprintf(", %s %s (%.0f%%)", name(s.Name), p.amount(sums[n]), 100*sums[n]/all)
		}
	}
	alternative += fmt.Sprintf(". The largest of %d: %s with %s.", len(p.Labels), name(p.Labels[largest]),
		p.amount(totals[largest]))
	x := p.Unit.axis(0, totals[largest], false)

	var c canvas
	top := c.legend(p.names(), func(c *canvas, i int, x, y float64) { c.part(i, x, y-6, 16, 12) }) + 4
	margin, after := 0.0, 0.0
	for i, l := range p.Labels {
		margin = max(margin, wide(short(l, 110), 12)+8)
		after = max(after, wide(p.Unit.text(totals[i]), 11)+10)
	}
	wideX := width - margin - after
	xOf := func(v float64) float64 { return margin + wideX*x.at(v) }
	const row, thick = 24, 16
	bottom := top + row*float64(len(p.Labels))
	last := math.Inf(-1)
	for _, t := range x.ticks() {
		c.add(`<path class="grid" d="M%v %vV%v" stroke="currentColor" opacity=".2"/>`, xOf(t), top, bottom+4)
		half := wide(x.text(t), 11) / 2
		if at := min(xOf(t), width-half); at-half > last+6 {
			c.text(at, bottom+17, "middle", muted, x.text(t), 100)
			last = at + half
		}
	}
	for i, l := range p.Labels {
		y := top + row*float64(i) + (row-thick)/2
		c.add(`<g class="bar">`)
		c.title(l + ": " + p.amount(totals[i]))
		c.text(margin-8, y+12, "end", "", l, 110)
		sum := 0.0
		for n, s := range p.Series {
			v := s.Values[i]
			if v == 0 {
				continue
			}
			c.open(n)
			c.title(fmt.Sprintf("%s, %s: %s", name(l), name(s.Name), p.amount(v)))
			c.part(n, xOf(sum), y, max(xOf(sum+v)-xOf(sum)-1, 0.5), thick)
			c.add("</g>")
			sum += v
		}
		c.text(width-2, y+12, "end", muted, p.Unit.text(totals[i]), 100)
		c.add("</g>")
	}
	h := bottom + 22
	if noun := p.noun(); noun != "" {
		h += 14
		c.text(width, h-4, "end", muted, noun, 200)
	}
	return c.picture("bars", p.Title, alternative, width, h)
}

// part draws a part of a bar. The parts differ by pattern as well as by colour: a pattern is a thick dashed line, which
// needs no definition with an id.
func (c *canvas) part(i int, x, y, w, h float64) {
	pattern := []string{"", "2 3", "1 1.5", "5 2", "1 4", "3 1", "4 4", "1.5 6"}[i]
	opacity := "1"
	if pattern != "" {
		opacity = ".5"
		c.add(`<path d="M%v %vh%v" stroke="currentColor" stroke-width="%v" stroke-dasharray="%s"/>`, x, y+h/2, w, h,
			pattern)
	}
	c.add(`<rect x="%v" y="%v" width="%v" height="%v" fill="currentColor" fill-opacity="%s"/>`, x, y, w, h, opacity)
}

// gathered returns the plot with at most as many bars and parts as can be told apart, and 0 for what is not drawn.
func (p Plot) gathered() Plot {
	const bars = 40
	out := p
	if rest := len(p.Labels) - bars + 1; rest > 1 {
		out.Labels = append(p.Labels[:bars-1:bars-1], fmt.Sprintf("%d others", rest))
	}
	parts := len(colours)
	if rest := len(p.Series) - parts + 1; rest > 1 {
		out.Series = append(p.Series[:parts-1:parts-1], Series{Name: fmt.Sprintf("%d others", rest)})
	}
	out.Series = slices.Clone(out.Series)
	for n := range out.Series {
		out.Series[n].Values = make([]float64, len(out.Labels))
	}
	for n, s := range p.Series {
		for i := range p.Labels {
			if v := s.value(i); v > 0 {
				out.Series[min(n, parts-1)].Values[min(i, bars-1)] += v
			}
		}
	}
	return out
}

// name returns a name for use in a sentence.
func name(s string) string { return safetext.Line(s, 60) }
