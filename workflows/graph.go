package workflows

import (
	"github.com/wfs-dev/wfs/workflows/spelling"
	"reflect"
	"slices"
	"strings"
)

// path returns the path that names a phase in findings.
func (p *Phase) path() string { return "phases." + clip(string(p.Name)) }

// checkGateNames reports different gates with the same name. Names must be unique because results are stored by gate
// name.
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

// graph has the phases that each phase of a workflow can lead to.
type graph struct {
	*reader
	w     *Workflow
	names []string
	start PhaseName // the start phase, after correction of a typing mistake
	next  map[PhaseName][]PhaseName
}

// checkGraph reports targets of phases that do not exist, phases that cannot be reached, and phases from which the end
// cannot be reached. A target that was unreadable or mistyped causes no further findings.
func (w *Workflow) checkGraph(r *reader) {
	g := graph{reader: r, w: w, start: w.Start, next: map[PhaseName][]PhaseName{}}
	for _, p := range w.Phases {
		g.names = append(g.names, clip(string(p.Name)))
	}
	if g.start != "" && w.Phase(g.start) == nil {
		r.fail("start", " is %s, which is not a phase (%s)", quote(string(g.start)),
			spelling.Alternatives(string(g.start), g.names))
		g.start = PhaseName(spelling.Suggest(string(g.start), g.names))
	}
	laps := w.Laps == nil
	for _, p := range w.Phases {
		for _, v := range []Verdict{Pass, Fail} {
			target := g.checkTarget(p, v)
			laps = laps || target == NextLap || target == anywhere
			if target == NextLap {
				first := w.LapStart()
				if first == w.Start {
					first = g.start
				}
				g.next[p.Name] = append(g.next[p.Name], first, w.AfterLaps())
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

// checkReach reports phases that cannot be reached, and phases from which the end cannot be reached.
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

// checkTarget reports a mistake in the target of phase p for verdict v. It returns the target, or the target that was
// probably meant, or `anywhere`.
func (g *graph) checkTarget(p Phase, v Verdict) PhaseName {
	target, at := p.On[v], p.path()+".on."+string(v)
	switch outside := target == Done || target == NextLap; {
	case target == anywhere:
	case !outside && g.w.Phase(target) == nil:
		all := append(slices.Clone(g.names), string(Done), string(NextLap))
		g.fail(at, " leads to %s, which is not a phase (%s)", quote(string(target)), spelling.Alternatives(string(target), all))
		return PhaseName(spelling.Suggest(string(target), all))
	case v == Fail && outside:
		g.fail(at, " leads to %s: work that failed its gates would count as done", target)
	case target == NextLap && g.w.Laps == nil:
		g.fail(at, " leads to %s, and the workflow has no laps\nadd laps: {agree: person}", NextLap)
	}
	return target
}

// anywhere stands for an unknown target. It may lead to any phase, so findings that depend on the target are not
// reported.
const anywhere PhaseName = ""

// from returns all phases that can be reached from the phase `start`, including itself.
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

// SameGate reports whether two gates are equal, except for what a phase adds where it uses them.
func SameGate(a, b Gate) bool {
	for _, g := range []*Gate{&a, &b} {
		g.Expect, g.Stable, g.Complexity, g.Optional, g.Require = "", 0, nil, false, nil
	}
	return reflect.DeepEqual(a, b)
}
