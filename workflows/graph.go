package workflows

import (
	"reflect"
	"slices"
	"strings"
)

// path is where a phase stands in its file.
func (p *Phase) path() string { return "phases." + clip(string(p.Name)) }

// checkGateNames reports gates that share a name and differ in what they are: evidence is kept by gate name.
func (w *Workflow) checkGateNames(r *reader) {
	first := map[string]Gate{}
	for _, p := range w.Phases {
		seen := map[string]bool{}
		for _, g := range p.Gates {
			low := strings.ToLower(g.Name)
			other, there := first[low]
			switch {
			case low == "":
			case seen[low]:
				r.fail(p.path(), ": two gates are called %s", g.Name)
			case there && !SameGate(g, other):
				r.fail(p.path(), ": gate %s is another one than in an earlier phase: give it another name", g.Name)
			case !there:
				first[low] = g
			}
			seen[low] = true
		}
	}
}

// graph is where the phases of a workflow lead.
type graph struct {
	*reader
	w     *Workflow
	names []string
	start PhaseName // as it was probably meant
	next  map[PhaseName][]PhaseName
}

// checkGraph reports targets that are nowhere, phases that nothing leads to, and phases that lead nowhere. A target
// that could not be read, or that is a typing mistake, is no reason for further findings.
func (w *Workflow) checkGraph(r *reader) {
	g := graph{reader: r, w: w, start: w.Start, next: map[PhaseName][]PhaseName{}}
	for _, p := range w.Phases {
		g.names = append(g.names, clip(string(p.Name)))
	}
	if g.start != "" && w.Phase(g.start) == nil {
		r.fail("start", " is %s, which is not a phase (%s)", quote(string(g.start)),
			Alternatives(string(g.start), g.names))
		g.start = PhaseName(Suggest(string(g.start), g.names))
	}
	laps := w.Laps == nil
	for _, p := range w.Phases {
		for _, v := range []Verdict{Pass, Fail} {
			target := g.checkTarget(p, v)
			laps = laps || target == NextLap || target == anywhere
			if target == NextLap { // the end of a lap leads to the start, and after the last lap to done
				g.next[p.Name] = append(g.next[p.Name], g.start, Done)
			} else {
				g.next[p.Name] = append(g.next[p.Name], target)
			}
		}
	}
	if !laps {
		r.fail("laps", " is set, and no phase leads to %s", NextLap)
	}
	g.checkReach()
}

// checkReach reports phases that nothing leads to, and phases that lead nowhere.
func (g *graph) checkReach() {
	reached := from(g.start, g.next)
	for _, p := range g.w.Phases {
		ahead := from(p.Name, g.next)
		switch {
		case !reached[anywhere] && !reached[p.Name]:
			g.fail(p.path(), " cannot be reached from %s", clip(string(g.start)))
		case !ahead[anywhere] && !ahead[Done]:
			g.fail(p.path(), " never leads to %s", Done)
		}
	}
}

// checkTarget reports what is wrong with one target and returns what was probably meant, "" for "who knows".
func (g *graph) checkTarget(p Phase, v Verdict) PhaseName {
	target, at := p.On[v], p.path()+".on."+string(v)
	switch outside := target == Done || target == NextLap; {
	case target == anywhere:
	case !outside && g.w.Phase(target) == nil:
		all := append(slices.Clone(g.names), string(Done), string(NextLap))
		g.fail(at, " leads to %s, which is not a phase (%s)", quote(string(target)), Alternatives(string(target), all))
		return PhaseName(Suggest(string(target), all))
	case v == Fail && outside:
		g.fail(at, " leads to %s: work that failed its gates would count as done", target)
	case target == NextLap && g.w.Laps == nil:
		g.fail(at, " leads to %s, and the workflow has no laps\nadd laps: {agree: person}", NextLap)
	}
	return target
}

// anywhere is the target that is not known: of it nothing can be said, so nothing is.
const anywhere PhaseName = ""

// from returns everything that can be reached from a phase, the phase itself included.
func from(start PhaseName, next map[PhaseName][]PhaseName) map[PhaseName]bool {
	reached := map[PhaseName]bool{start: true}
	for queue := []PhaseName{start}; len(queue) > 0; queue = queue[1:] {
		for _, to := range next[queue[0]] {
			if !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	return reached
}

// SameGate reports whether two gates are one gate, whatever is expected of it.
func SameGate(a, b Gate) bool {
	a.Expect, b.Expect = "", ""
	a.Stable, b.Stable = 0, 0
	return reflect.DeepEqual(a, b)
}
