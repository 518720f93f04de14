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
	lane             = 16.0         // from one lane to the next
	detour           = 36.0         // how far a phase beside the way is moved to the right
	top              = 28.0         // of the first box
)

// row is a line of the picture: a phase, or the end.
type row struct {
	name  session.PhaseName
	phase *workflows.Phase // nil for the end
	aside bool             // work that passes everything does not come here
}

// arrow leads from one row to another.
type arrow struct {
	from, to int
	label    string
	lap      bool // it leads to the next lap
}

type graph struct {
	canvas
	rows   []row
	arrows []arrow
	left   float64 // left side of the boxes
}

// Workflow draws the phases of a workflow and where each verdict leads. `here` is the phase in which a session is,
// workflows.Done if it is done, "" for none.
func Workflow(w *workflows.Workflow, here session.PhaseName) template.HTML {
	title := "Workflow " + w.Name
	g := &graph{rows: rows(w), left: 10}
	if len(g.rows) == 1 {
		return nothing("workflow", title, "The workflow has no phases.")
	}
	g.arrows = g.arrowsOf(w)
	ahead, lanesAhead := g.lanes(g.ahead)
	back, lanesBack := g.lanes(g.back)
	if lanesAhead > 0 {
		g.left = 36 + lane*float64(lanesAhead-1)
	}
	right := g.left + boxWide + 58 // the first lane back
	if slices.ContainsFunc(g.rows, func(r row) bool { return r.aside }) {
		right += detour
	}
	needed := right + lane*float64(lanesBack)
	wide := max(width, needed)
	g.left, right = g.left+(wide-needed)/2, right+(wide-needed)/2
	start := g.left + boxWide/2
	g.line("forward", path("M%v 6V%v", start, top-5), start, top, 0, 1)
	g.add(`<circle cx="%v" cy="6" r="4"/></g>`, start)
	for i, a := range g.arrows {
		switch {
		case ahead[i].lane > 0:
			x, y, to := g.left-14-lane*float64(ahead[i].lane-1), g.middle(a.from)+8, g.middle(a.to)-8
			g.bend("forward", g.x(a.from), y, x, g.x(a.to), to, ahead[i].joins)
			turn := fmt.Sprintf(` transform="rotate(-90 %s %s)"`, decimal(x-5, 10), decimal((y+to)/2, 10))
			g.text(x-5, (y+to)/2, "middle", turn+muted, a.label, 120)
		case back[i].lane > 0:
			x, y, below := g.x(a.from)+boxWide, g.middle(a.from)+15, 11.0
			if slices.ContainsFunc(g.arrows[:i], func(b arrow) bool { return b.from == a.from && g.back(b) }) {
				y, below = y-13, -3 // the second one
			}
			x1 := right + lane*float64(back[i].lane-1)
			g.bend("back", x, y, x1, g.x(a.to)+boxWide, g.middle(a.to)-15, back[i].joins)
			g.text(x+6, y+below, "start", muted, a.label, 44)
		case a.from == a.to:
			g.loop(a)
		default:
			g.next(a)
		}
		g.add("</g>")
	}
	for i, r := range g.rows {
		g.box(i, r, r.name == here)
	}
	return g.picture("workflow", title, g.sentence(here), wide, top+pitch*float64(len(g.rows)-1)+boxTall+6)
}

// rows returns the phases in the order in which work goes forward. A phase beside the way follows the one that leads
// to it.
func rows(w *workflows.Workflow) []row {
	var list []row
	has := func(name session.PhaseName) bool {
		return slices.ContainsFunc(list, func(r row) bool { return r.name == name })
	}
	for name := w.Start; !has(name); {
		p := w.Phase(name)
		if p == nil {
			break
		}
		list = append(list, row{name: name, phase: p})
		if name = p.On[workflows.Pass]; name == workflows.NextLap {
			name = w.AfterLaps()
		}
	}
	for again := true; again; {
		again = false
		for i := range w.Phases {
			p := &w.Phases[i]
			at := slices.IndexFunc(list, func(r row) bool {
				return r.phase.On[workflows.Pass] == p.Name || r.phase.On[workflows.Fail] == p.Name
			})
			if at >= 0 && !has(p.Name) {
				list, again = slices.Insert(list, at+1, row{p.Name, p, true}), true
			}
		}
	}
	return append(list, row{name: workflows.Done})
}

// arrowsOf returns the arrows, with one for all verdicts that lead from one phase to the same other.
func (g *graph) arrowsOf(w *workflows.Workflow) (list []arrow) {
	add := func(from, to session.PhaseName, label string, lap bool) {
		a := arrow{label: label, lap: lap}
		a.from = slices.IndexFunc(g.rows, func(r row) bool { return r.name == from })
		if a.to = slices.IndexFunc(g.rows, func(r row) bool { return r.name == to }); a.from < 0 || a.to < 0 {
			return
		}
		same := func(b arrow) bool { return b.from == a.from && b.to == a.to && b.lap == a.lap }
		if i := slices.IndexFunc(list, same); i >= 0 {
			list[i].label += ", " + label
			return
		}
		list = append(list, a)
	}
	for _, t := range decide.Transitions(w) {
		if t.To == workflows.NextLap {
			add(t.From, w.LapStart(), "next lap", true)
			add(t.From, w.AfterLaps(), "nothing left", false)
			continue
		}
		add(t.From, t.To, string(t.Verdict), false)
	}
	return list
}

// straight reports whether an arrow goes straight down, past phases beside the way at most.
func (g *graph) straight(a arrow) bool {
	onWay := func(r row) bool { return !r.aside }
	return !a.lap && a.to > a.from && (a.to == a.from+1 ||
		onWay(g.rows[a.from]) && onWay(g.rows[a.to]) && !slices.ContainsFunc(g.rows[a.from+1:a.to], onWay))
}

// ahead reports whether an arrow runs on the left, back whether on the right.
func (g *graph) ahead(a arrow) bool { return a.lap || a.to > a.from && !g.straight(a) }
func (g *graph) back(a arrow) bool  { return !a.lap && a.to < a.from }

// seat is where an arrow runs beside the boxes: its lane, counted from 1, and whether it joins there another arrow to
// the same phase that comes from farther away.
type seat struct {
	lane  int
	joins bool
}

// lanes gives each of the arrows that `in` selects a seat, by its index, so that no two meet. Short ways are near the
// boxes.
func (g *graph) lanes(in func(arrow) bool) (of map[int]seat, n int) {
	type way struct{ to, low, high int }
	var ways []way
	for _, a := range g.arrows {
		if !in(a) {
			continue
		}
		i := slices.IndexFunc(ways, func(w way) bool { return w.to == a.to })
		if i < 0 {
			i, ways = len(ways), append(ways, way{a.to, a.to, a.to})
		}
		ways[i].low, ways[i].high = min(ways[i].low, a.from), max(ways[i].high, a.from)
	}
	slices.SortStableFunc(ways, func(a, b way) int { return (a.high - a.low) - (b.high - b.low) })
	var lanes [][]way
	of = map[int]seat{}
	for _, w := range ways {
		free := func(l []way) bool {
			return !slices.ContainsFunc(l, func(o way) bool { return o.low <= w.high && w.low <= o.high })
		}
		k := slices.IndexFunc(lanes, free)
		if k < 0 {
			k, lanes = len(lanes), append(lanes, nil)
		}
		lanes[k] = append(lanes[k], w)
		for i, a := range g.arrows {
			if in(a) && a.to == w.to {
				of[i] = seat{k + 1, w.low < a.from && a.from < w.high}
			}
		}
	}
	return of, len(lanes)
}

func (g *graph) x(i int) float64 {
	if g.rows[i].aside {
		return g.left + detour
	}
	return g.left
}

func (g *graph) middle(i int) float64 { return top + pitch*float64(i) + boxTall/2 }

// line begins the group of an arrow: its line, and its head at a point in a direction, if there is one.
func (g *graph) line(kind, d string, x, y, dx, dy float64) {
	dash := ""
	if kind == "back" {
		dash = "4 3"
	}
	g.add(`<g class="arrow %s"><path d="%s" fill="none" stroke="currentColor" stroke-width="1.5" `+
		`stroke-dasharray="%s"/>`, kind, d, dash)
	if dx != 0 || dy != 0 {
		g.add(`<path d="M%v %vL%v %vL%v %vz"/>`, x, y, x-7*dx-4*dy, y-7*dy-4*dx, x-7*dx+4*dy, y-7*dy+4*dx)
	}
}

// next draws an arrow straight down.
func (g *graph) next(a arrow) {
	x, y, to := max(g.x(a.from), g.x(a.to))+boxWide/2, g.middle(a.from)+boxTall/2, g.middle(a.to)-boxTall/2
	if a.to > a.from+1 { // past phases beside the way
		x = g.left + detour/2
	}
	g.line("forward", path("M%v %vV%v", x, y, to-5), x, to, 0, 1)
	g.text(x+8, y+20, "start", muted, a.label, boxWide/2)
}

// loop draws an arrow from a phase to itself.
func (g *graph) loop(a arrow) {
	x, y := g.x(a.from)+boxWide, g.middle(a.from)
	g.line("back", path("M%v %vh11a6 6 0 0 0 0-12h-6", x, y+8), x, y-4, -1, 0)
	g.text(x+22, y+6, "start", muted, a.label, 36)
}

// bend draws an arrow that leaves a box sideways, follows a lane, and comes back to another box.
func (g *graph) bend(kind string, x, y, lane, toX, toY float64, joins bool) {
	side, up := 1.0, 1.0
	if lane < x {
		side = -1
	}
	if toY > y {
		up = -1
	}
	d := path("M%v %vH%vq%v 0 %v %v", x, y, lane-7*side, 7*side, 7*side, -7*up)
	if joins {
		g.line(kind, d, 0, 0, 0, 0)
		return
	}
	d += path("V%vq0 %v %v %vH%v", toY+7*up, -7*up, -7*side, -7*up, toX+5*side)
	g.line(kind, d, toX, toY, -side, 0)
}

// box draws a phase, or the end.
func (g *graph) box(i int, r row, here bool) {
	x, y, h, round := g.x(i), g.middle(i)-boxTall/2, boxTall, 7.0
	class, stroke, fill, heavy := "phase", ".55", ".05", 1.0
	if r.phase == nil {
		class, h, round = "end", 28, 14
	} else if r.phase.Run.Human {
		class += " human"
	}
	if here {
		class, stroke, fill, heavy = class+" here c0", "1", ".16", 2.5
	}
	g.add(`<g class="%s"`, class)
	if here {
		g.add(` color="%s"`, colours[0])
	}
	g.add(`><rect x="%v" y="%v" width="%v" height="%v" rx="%v" fill="currentColor" fill-opacity="%s" `+
		`stroke="currentColor" stroke-opacity="%s" stroke-width="%v"/></g>`, x, y, boxWide, h, round, fill, stroke, heavy)
	if r.phase == nil {
		g.text(x+boxWide/2, y+18, "middle", ` font-weight="600"`, "done", boxWide)
	} else {
		g.text(x+12, y+18, "start", ` font-weight="600"`, string(r.name), 180)
		at := x + 12
		if r.phase.Run.Human {
			g.add(`<path d="M%v %vm-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0M%v %vc0-8 11-8 11 0z"/>`,
				at+5.5, y+27, at, y+36.5)
			at += 16
		}
		room := x + boxWide - 8 - at
		if here {
			room -= 50
		}
		g.text(at, y+34, "start", muted, worker(r.phase), room)
	}
	if here {
		g.text(x+boxWide-10, y+h-8, "end", ` font-size="11" font-weight="600"`, "◀ here", boxWide)
	}
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
	at := ""
	for i, r := range g.rows {
		if r.name == here {
			at = fmt.Sprintf(" The session is at %s.", r.name)
		}
		if r.phase == nil {
			continue
		}
		text := fmt.Sprintf("%s (%s)", r.name, worker(r.phase))
		for _, a := range g.arrows {
			if a.from == i {
				text += fmt.Sprintf(", %s: %s", a.label, g.rows[a.to].name)
			}
		}
		phases = append(phases, text)
	}
	return fmt.Sprintf("%d phases: %s.%s", len(phases), strings.Join(phases, "; "), at)
}
