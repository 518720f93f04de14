package svg

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Work goes down from box to box. Arrows that jump ahead, and the arrow to the next lap, run in lanes on the left;
// arrows back run in lanes on the right. A phase that work reaches only by a detour stands to the right of the others.
const (
	boxWide, boxTall = 206.0, 42.0
	pitch            = boxTall + 32 // from one box to the next
	apart            = 16.0         // from one lane to the next
	detour           = 36.0         // how far a phase beside the way is moved to the right
	top              = 28.0         // of the first box
)

// row is a line of the picture: a phase, or the end.
type row struct {
	name  session.PhaseName
	phase *workflows.Phase // nil for the end
	aside bool             // work that passes everything does not come here
}

type rows []row

// at returns the index of a name, -1 if it is not there.
func (l rows) at(name session.PhaseName) int {
	return slices.IndexFunc(l, func(r row) bool { return r.name == name })
}

// arrow leads from one row to another.
type arrow struct {
	from, to  int
	low, high int // the same two, the smaller first
	label     string
	side      float64 // of the boxes, on which it runs in a lane; 0 for an arrow that needs none
	lane      int     // counted from 1; short ways are near the boxes
}

const ahead, back = -1.0, 1.0

type graph struct {
	canvas
	rows        rows
	arrows      []*arrow
	left, right float64 // left side of the boxes, and the first lane back
}

// Workflow draws the phases of a workflow and where each verdict leads. `here` is the phase in which a session is,
// workflows.Done if it is done, "" for none.
func Workflow(w *workflows.Workflow, here session.PhaseName) template.HTML {
	title := "Workflow " + w.Name
	g := &graph{rows: rowsOf(w)}
	if len(g.rows) == 1 {
		return nothing("workflow", title, "The workflow has no phases.")
	}
	g.connect(w)
	lanes := g.lanes()
	g.left = 20 + apart*float64(lanes[ahead])
	g.right = g.left + boxWide + 58
	if slices.ContainsFunc(g.rows, func(r row) bool { return r.aside }) {
		g.right += detour
	}
	needed := g.right + apart*float64(lanes[back])
	wide := max(width, needed)
	g.left, g.right = g.left+(wide-needed)/2, g.right+(wide-needed)/2
	start := g.left + boxWide/2
	g.line("forward", "M%v 6V%v", start, top-5)
	g.head(start, top, 0)
	g.add(`<circle cx="%v" cy="6" r="4"/></g>`, start)
	for i, a := range g.arrows {
		switch {
		case a.side != 0:
			g.bend(i)
		case a.from == a.to:
			x, y := g.x(a.from)+boxWide, g.middle(a.from)
			g.line("back", "M%v %vh11a6 6 0 0 0 0-12h-6", x, y+8)
			g.head(x, y-4, 90)
			g.text(x+22, y+6, "start", muted, a.label, 36)
		default:
			g.down(a)
		}
		g.add("</g>")
	}
	for i, r := range g.rows {
		g.box(i, r, r.name == here)
	}
	return g.picture("workflow", title, g.sentence(here), wide, top+pitch*float64(len(g.rows)-1)+boxTall+6)
}

// rowsOf returns the phases in the order in which work goes forward. A phase beside the way follows the one that leads
// to it.
func rowsOf(w *workflows.Workflow) (list rows) {
	for p := w.Phase(w.Start); p != nil && list.at(p.Name) < 0; {
		list = append(list, row{name: p.Name, phase: p})
		next := p.On[workflows.Pass]
		if next == workflows.NextLap {
			next = w.AfterLaps()
		}
		p = w.Phase(next)
	}
	for i := 0; i < len(list); i++ {
		for _, v := range []workflows.Verdict{workflows.Fail, workflows.Pass} {
			if p := w.Phase(list[i].phase.On[v]); p != nil && list.at(p.Name) < 0 {
				list = slices.Insert(list, i+1, row{p.Name, p, true})
			}
		}
	}
	return append(list, row{name: workflows.Done})
}

// connect adds the arrows, with one for all verdicts that lead from one phase to the same other.
func (g *graph) connect(w *workflows.Workflow) {
	onWay := func(r row) bool { return !r.aside }
	add := func(from, to session.PhaseName, label string, side float64) {
		a := &arrow{from: g.rows.at(from), to: g.rows.at(to), label: label, side: side}
		a.low, a.high = min(a.from, a.to), max(a.from, a.to)
		switch {
		case a.low < 0:
			return
		case side != 0:
		case a.to < a.from:
			a.side = back
		// Straight down an arrow goes only past phases beside the way, and then from the way to the way.
		case a.to > a.from+1 && (g.rows[a.from].aside || g.rows[a.to].aside ||
			slices.ContainsFunc(g.rows[a.from+1:a.to], onWay)):
			a.side = ahead
		}
		same := func(b *arrow) bool { return b.from == a.from && b.to == a.to && b.side == a.side }
		if i := slices.IndexFunc(g.arrows, same); i >= 0 {
			g.arrows[i].label += ", " + label
			return
		}
		g.arrows = append(g.arrows, a)
	}
	for _, t := range decide.Transitions(w) {
		if t.To == workflows.NextLap {
			add(t.From, w.LapStart(), "next lap", ahead)
			add(t.From, w.AfterLaps(), "nothing left", 0)
			continue
		}
		add(t.From, t.To, string(t.Verdict), 0)
	}
}

// lanes gives arrows their lanes, so that no two meet that lead to different phases. It returns the number of lanes on
// each side.
func (g *graph) lanes() map[float64]int {
	lanes := map[float64]int{}
	length := func(a, b *arrow) int { return (a.high - a.low) - (b.high - b.low) }
	for _, a := range slices.SortedStableFunc(slices.Values(g.arrows), length) {
		meets := func(b *arrow) bool {
			return b.side == a.side && b.lane == a.lane && b.to != a.to && b.low <= a.high && a.low <= b.high
		}
		if a.side != 0 {
			for a.lane = 1; slices.ContainsFunc(g.arrows, meets); {
				a.lane++
			}
			lanes[a.side] = max(lanes[a.side], a.lane)
		}
	}
	return lanes
}

func (g *graph) x(i int) float64 {
	if g.rows[i].aside {
		return g.left + detour
	}
	return g.left
}

func (g *graph) middle(i int) float64 { return top + pitch*float64(i) + boxTall/2 }

// line begins the group of an arrow with its line, a format of numbers.
func (g *graph) line(kind, d string, numbers ...any) {
	dash := ""
	if kind == "back" {
		dash = "4 3"
	}
	g.add(`<g class="arrow %s"><path fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="%s" d="`,
		kind, dash)
	g.add(d+`"/>`, numbers...)
}

// head draws the head of an arrow at a point, turned by degrees from pointing down.
func (g *graph) head(x, y, turned float64) {
	g.add(`<path d="M%v %vl-4-7h8z" transform="rotate(%v %v %v)"/>`, x, y, turned, x, y)
}

// down draws an arrow straight down.
func (g *graph) down(a *arrow) {
	x, y, to := max(g.x(a.from), g.x(a.to))+boxWide/2, g.middle(a.from)+boxTall/2, g.middle(a.to)-boxTall/2
	if a.to > a.from+1 { // past phases beside the way
		x = g.left + detour/2
	}
	g.line("forward", "M%v %vV%v", x, y, to-5)
	g.head(x, to, 0)
	g.text(x+8, y+20, "start", muted, a.label, boxWide/2)
}

// bend draws an arrow that leaves a box sideways, follows a lane, and comes back to another box.
func (g *graph) bend(i int) {
	a := g.arrows[i]
	out := apart * float64(a.lane-1)
	kind, x, toX, lane := "forward", g.x(a.from), g.x(a.to), g.left-14-out
	y, toY := g.middle(a.from)+8, g.middle(a.to)-8
	below := 11.0 // where the label is
	if a.side == back {
		kind, x, toX, lane = "back", x+boxWide, toX+boxWide, g.right+out
		y, toY = y+7, toY-7
		if slices.ContainsFunc(g.arrows[:i], func(b *arrow) bool { return b.from == a.from && b.side == back }) {
			y, below = y-13, -3 // the second one
		}
	}
	corner, up := 7*a.side, 7.0
	if toY > y {
		up = -7
	}
	d, numbers := "M%v %vH%vq%v 0 %v %v", []any{x, y, lane - corner, corner, corner, -up}
	// Dashes over dashes would look like a line: it ends where it meets one to the same phase from farther away.
	if slices.ContainsFunc(g.arrows, func(b *arrow) bool {
		return a.side == back && b.side == back && b.lane == a.lane && b.to == a.to && b.from > a.from
	}) {
		g.line(kind, d, numbers...)
	} else {
		g.line(kind, d+"V%vq0 %v %v %vH%v", append(numbers, toY+up, -up, -corner, -up, toX+5*a.side)...)
		g.head(toX, toY, 90*a.side)
	}
	if a.side == back {
		g.text(x+6, y+below, "start", muted, a.label, 44)
		return
	}
	turn := fmt.Sprintf(` transform="rotate(-90 %.1f %.1f)"`, lane-5, (y+toY)/2)
	g.text(lane-5, (y+toY)/2, "middle", turn+muted, a.label, 120)
}

// box draws a phase, or the end.
func (g *graph) box(i int, r row, here bool) {
	const bold = ` font-weight="600"`
	x, y, h, round := g.x(i), g.middle(i)-boxTall/2, boxTall, 7.0
	class, room := "phase", boxWide-20
	if r.phase == nil {
		class, h, round = "end", 28, 14
	} else if r.phase.Run.Human {
		class += " human"
	}
	colour, look := "inherit", `fill-opacity=".05" stroke-opacity=".55"`
	if here {
		class, room = class+" here c0", room-50
		colour, look = colours[0], `fill-opacity=".16" stroke-width="2.5"`
	}
	g.add(`<g class="%s" color="%s"><rect x="%v" y="%v" width="%v" height="%v" rx="%v" fill="currentColor" `+
		`stroke="currentColor" %s/></g>`, class, colour, x, y, boxWide, h, round, look)
	if here {
		g.text(x+boxWide-10, y+h-8, "end", ` font-size="11"`+bold, "◀ here", boxWide)
	}
	if r.phase == nil {
		g.text(x+boxWide/2, y+18, "middle", bold, "done", boxWide)
		return
	}
	x += 12
	g.text(x, y+18, "start", bold, string(r.name), 180)
	if r.phase.Run.Human {
		g.add(`<path d="M%v %vm-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0M%v %vc0-8 11-8 11 0z"/>`,
			x+5.5, y+27, x, y+36.5)
		x, room = x+16, room-16
	}
	g.text(x, y+34, "start", muted, worker(r.phase), room)
}

// worker says who works in a phase.
func worker(p *workflows.Phase) string {
	who := "agent"
	switch {
	case p.Run.Human:
		return "a person"
	case !p.Run.Command.IsZero():
		who = "command"
	case p.Run.Name != "":
		who = "agent " + p.Run.Name
	}
	if p.Approve {
		who += ", then a person"
	}
	return who
}

// sentence says what the picture shows.
func (g *graph) sentence(here session.PhaseName) string {
	var phases []string
	for i, r := range g.rows[:len(g.rows)-1] {
		text := fmt.Sprintf("%s (%s)", r.name, worker(r.phase))
		for _, a := range g.arrows {
			if a.from == i {
				text += fmt.Sprintf(", %s: %s", a.label, g.rows[a.to].name)
			}
		}
		phases = append(phases, text)
	}
	text := fmt.Sprintf("%d phases: %s.", len(phases), strings.Join(phases, "; "))
	if g.rows.at(here) >= 0 {
		text += fmt.Sprintf(" The session is at %s.", here)
	}
	return text
}
