package svg

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
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
	if i < len(s.Values) && math.Abs(s.Values[i]) <= most {
		return s.Values[i]
	}
	return math.NaN()
}

// Series differ by these as well as by their colours: lines by their dashes and by the outlines of their markers around
// the point to which they are moved, parts of bars by their patterns.
var (
	dashes = []string{"", "6 3", "2 2.5", "9 3 2 3"}
	marks  = []string{"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0", "m-2.8-2.8h5.6v5.6h-5.6z", "m0-3.6l3.4 6.2h-6.8z",
		"m0-4l4 4-4 4-4-4z"}
	patterns = []string{"", "2 3", "1 1.5", "5 2"}
)

func (c *canvas) mark(i int, x, y float64) {
	c.add(`<path d="M%v %v%s" stroke="currentColor" stroke-width="1.5"/>`, x, y, marks[i%len(marks)])
}

// Lines draws a line for each series over the labels: a gap where a value is missing.
func Lines(p Plot) template.HTML {
	low, high := math.Inf(1), math.Inf(-1)
	var alternative []string
	for _, s := range p.Series {
		alternative = append(alternative, p.course(s))
		for i := range p.Labels {
			if v := s.value(i); !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		return nothing("lines", p.Title, "There is nothing to draw yet.")
	}
	var c canvas
	top := c.legend(p.Series, func(i int, x, y float64) {
		c.add(`<path d="M%v %vh18" stroke="currentColor" stroke-width="2" stroke-dasharray="%s"/>`, x, y,
			dashes[i%len(dashes)])
		c.mark(i, x+9, y)
	})
	if noun := p.Unit.noun(); noun != "" {
		c.text(0, top+11, "start", muted, noun, 200)
		top += 14
	}
	y := p.Unit.axis(low, high)
	left := 0.0
	for _, t := range y.ticks() {
		left = max(left, wide(y.text(t))+8)
	}
	const tall, right = 140.0, width - 10.0
	bottom := top + 8 + tall
	yOf := func(v float64) float64 { return bottom - tall*y.at(v) }
	apart := (right - left - 12) / float64(max(1, len(p.Labels)-1))
	xOf := func(i int) float64 { return left + 6 + apart*float64(i) }
	for _, t := range y.ticks() {
		strength := ".2"
		if t == 0 || t == y.low {
			strength = ".6"
		}
		c.add(`<path class="grid" d="M%v %vH%v" stroke="currentColor" opacity="%s"/>`, left, yOf(t), right, strength)
		c.text(left-6, yOf(t)+4, "end", muted, y.text(t), 100)
	}
	every, free := p.every(), 0.0
	for i := 0; i < len(p.Labels); i += every {
		c.add(`<path class="grid" d="M%v %vv4" stroke="currentColor" opacity=".6"/>`, xOf(i), bottom)
		free = c.below(xOf(i), bottom+16, free, p.Labels[i])
	}
	for i := range p.Series {
		c.line(p, i, xOf, yOf)
	}
	c.text(right, bottom+32, "end", muted, p.X, 200)
	return c.picture("lines", p.Title, strings.Join(alternative, " "), width, bottom+36)
}

// every returns the distance between labels, and between markers if there are many: up to twelve are enough.
func (p Plot) every() int { return int(Unit("").step(max(1, float64(len(p.Labels))/12))) }

// below writes a text below a plot if there is room, which begins at `free`. It returns where there is room after it.
func (c *canvas) below(x, y, free float64, text string) float64 {
	half := wide(short(text, 90)) / 2
	if x = min(max(x, half), width-half); x-half < free {
		return free
	}
	c.text(x, y, "middle", muted, text, 90)
	return x + half + 6
}

// line draws one series. Each point has a marker if there are few, otherwise some of them, and each that stands alone.
func (c *canvas) line(p Plot, n int, xOf func(int) float64, yOf func(float64) float64) {
	s, every, thick, dash := p.Series[n], 1, 2.0, dashes[n%len(dashes)]
	if len(p.Labels) > 40 { // dashes would be lost in the ups and downs
		every, thick, dash = p.every(), 1.2, ""
	}
	c.open(n)
	c.title(s.Name)
	var line, points canvas
	command := "M" // "L" if the value before this one exists
	for i, l := range p.Labels {
		v := s.value(i)
		if math.IsNaN(v) {
			command = "M"
			continue
		}
		line.add("%s%v %v", command, xOf(i), yOf(v))
		if i%every == 0 || command == "M" && math.IsNaN(s.value(i+1)) {
			points.add("<g>")
			points.title(s.Name + ", " + l + ": " + p.Unit.amount(v))
			points.mark(n, xOf(i), yOf(v))
			points.add("</g>")
		}
		command = "L"
	}
	c.add(`<path class="line" d="%s" fill="none" stroke="currentColor" stroke-width="%v" stroke-linejoin="round" `+
		`stroke-dasharray="%s"/>%s</g>`, line.String(), thick, dash, points.String())
}

// course says in a sentence how the values of a series went.
func (p Plot) course(s Series) string {
	var exist []int
	for i := range p.Labels {
		if !math.IsNaN(s.value(i)) {
			exist = append(exist, i)
		}
	}
	if exist == nil {
		return s.Name + ": no values."
	}
	compare := func(i, j int) int { return cmp.Compare(s.value(i), s.value(j)) }
	first, last := exist[0], exist[len(exist)-1]
	low, high := slices.MinFunc(exist, compare), slices.MaxFunc(exist, compare)
	at := func(i int) string { return p.Unit.amount(s.value(i)) + " at " + p.Labels[i] }
	text := s.Name + ": "
	switch {
	case first == last:
		text += at(first)
	case compare(low, high) == 0:
		text += "always " + p.Unit.amount(s.value(first)) + ", from " + p.Labels[first] + " to " + p.Labels[last]
	default:
		text += "from " + at(first) + " to " + at(last) + ", lowest " + at(low) + ", highest " + at(high)
	}
	if n := len(p.Labels); n > len(exist) {
		text += fmt.Sprintf("; %d of %d values are missing", n-len(exist), n)
	}
	return text + "."
}

// Bars draws a horizontal bar for each label, with a part for each series. Parts that are missing, or not above zero,
// are left out. Bars after the 40th are put together.
func Bars(p Plot) template.HTML {
	const bars = 40
	labels := p.Labels
	if rest := len(labels) - bars + 1; rest > 1 {
		labels = append(labels[:bars-1:bars-1], fmt.Sprintf("%d others", rest))
	}
	var parts [][]float64 // by series
	var sums []float64
	totals, all := make([]float64, len(labels)), 0.0
	for _, s := range p.Series {
		part, sum := make([]float64, len(labels)), 0.0
		for i := range p.Labels {
			if v := s.value(i); v > 0 {
				part[min(i, bars-1)] += v
				totals[min(i, bars-1)] += v
				sum += v
			}
		}
		parts, sums, all = append(parts, part), append(sums, sum), all+sum
	}
	if all == 0 {
		return nothing("bars", p.Title, "There is nothing to draw yet.")
	}
	alternative := p.Unit.amount(all) + " together"
	for n, s := range p.Series {
		if len(p.Series) > 1 {
			alternative += fmt.Sprintf(", %s %s (%.0f%%)", s.Name, p.Unit.amount(sums[n]), 100*sums[n]/all)
		}
	}
	highest := slices.Max(totals)
	alternative += fmt.Sprintf(". The largest of %d: %s with %s.", len(labels), labels[slices.Index(totals, highest)],
		p.Unit.amount(highest))

	var c canvas
	top := c.legend(p.Series, func(i int, x, y float64) { c.part(i, x, y-6, 16, 12) }) + 4
	left, right := 0.0, width-2.0
	for i, l := range labels {
		left = max(left, wide(short(l, 110))+8)
		right = min(right, width-10-wide(p.Unit.text(totals[i])))
	}
	x := p.Unit.axis(0, highest)
	xOf := func(v float64) float64 { return left + (right-left)*x.at(v) }
	const row, thick = 24.0, 16.0
	bottom := top + row*float64(len(labels))
	free := 0.0
	for _, t := range x.ticks() {
		c.add(`<path class="grid" d="M%v %vV%v" stroke="currentColor" opacity=".2"/>`, xOf(t), top, bottom+4)
		free = c.below(xOf(t), bottom+17, free, x.text(t))
	}
	for i, l := range labels {
		y := top + row*float64(i) + (row-thick)/2
		c.add(`<g class="bar">`)
		c.title(l + ": " + p.Unit.amount(totals[i]))
		c.text(left-8, y+12, "end", "", l, 110)
		sum := 0.0
		for n, s := range p.Series {
			v := parts[n][i]
			if v == 0 {
				continue
			}
			c.open(n)
			c.title(l + ", " + s.Name + ": " + p.Unit.amount(v))
			c.part(n, xOf(sum), y, max(xOf(sum+v)-xOf(sum)-1, 0.5), thick)
			c.add("</g>")
			sum += v
		}
		c.text(width-2, y+12, "end", muted, p.Unit.text(totals[i]), 100)
		c.add("</g>")
	}
	h := bottom + 22
	if noun := p.Unit.noun(); noun != "" {
		h += 14
		c.text(width, h-4, "end", muted, noun, 200)
	}
	return c.picture("bars", p.Title, alternative, width, h)
}

// part draws a part of a bar. A pattern is a thick dashed line, which needs no definition with an id.
func (c *canvas) part(i int, x, y, w, h float64) {
	c.add(`<path d="M%v %vh%v" stroke="currentColor" stroke-width="%v" stroke-dasharray="%s"/>`, x, y+h/2, w, h,
		patterns[i%len(patterns)])
	c.add(`<rect x="%v" y="%v" width="%v" height="%v" fill="currentColor" fill-opacity=".5"/>`, x, y, w, h)
}
