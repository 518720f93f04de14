package workflows

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
)

// maxName is the longest name of a phase, gate or workflow. They become file names, trailers and commit subjects.
const maxName = 40

// nameProblem says what is wrong with a name of a phase, gate or workflow, "" if nothing is.
func nameProblem(s string) string {
	if len(s) > maxName {
		return fmt.Sprintf("is longer than %d characters", maxName)
	}
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if i == 0 && !letter {
			return "must begin with a letter (a-z, A-Z)"
		}
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' {
			return "may hold letters, digits, - and _ only"
		}
	}
	if s == "" {
		return "is empty"
	}
	return ""
}

func phaseNameProblem(s string) string {
	if strings.EqualFold(s, string(Done)) || strings.EqualFold(s, string(NextLap)) {
		return fmt.Sprintf("is taken: %s is a target of on:", strings.ToLower(s))
	}
	return nameProblem(s)
}

// guardProblem says what is wrong with a pattern of a guard, "" if nothing is. As in a .gitignore, a leading / ties it
// to the top of the work tree.
func guardProblem(g string) string {
	if strings.HasPrefix(g, "!") {
		return "cannot be negated: use only and except"
	}
	return globProblem(strings.TrimPrefix(g, "/"))
}

// globProblem says what is wrong with a pattern below the work tree, "" if nothing is. What is refused here would match
// nothing, or something else than its author thinks.
func globProblem(g string) string {
	switch {
	case strings.HasPrefix(g, "/"):
		return "must be relative to the top of the work tree, without a leading /"
	case strings.Contains(g, `\`):
		return `must be written with / between directories, and without \`
	case strings.ContainsAny(g, "{}"):
		return "cannot hold {alternatives}: write one pattern for each"
	}
	for segment := range strings.SplitSeq(strings.TrimSuffix(g, "/"), "/") {
		_, err := path.Match(segment, "")
		switch {
		case segment == "", segment == ".", segment == "..":
			return "may not hold empty, . or .. directories"
		case segment != "**" && strings.Contains(segment, "**"):
			return "may hold ** only as a whole directory: a/**/b"
		case err != nil:
			return "has a [ that is not closed, or an empty range"
		}
	}
	return ""
}

// checkGateNames reports gates that share a name and differ in what they are: evidence is kept by gate name.
func (r *reader) checkGateNames(w *Workflow, at positions) {
	first := map[string]Gate{}
	for i := range w.Phases {
		seen := map[string]bool{}
		for _, g := range w.Phases[i].Gates {
			if g.Name == "" {
				continue
			}
			low := strings.ToLower(g.Name)
			other, there := first[low]
			switch {
			case seen[low]:
				r.fail(at.phases[i].line, "phase %s: two gates are called %s", clip(string(w.Phases[i].Name)), g.Name)
			case there && !sameGate(g, other):
				r.fail(at.phases[i].line, "phase %s: gate %s is another one than in an earlier phase: give it another name",
					clip(string(w.Phases[i].Name)), g.Name)
			case !there:
				first[low] = g
			}
			seen[low] = true
		}
	}
}

// sameGate reports whether two gates are one gate, whatever is expected of it.
func sameGate(a, b Gate) bool {
	a.Expect, b.Expect = "", ""
	a.Stable, b.Stable = 0, 0
	return reflect.DeepEqual(a, b)
}

// checkGraph reports targets that are nowhere, phases that nothing leads to, and phases that lead nowhere. A target
// that could not be read, or that is a typing mistake, is no reason for further findings.
func (r *reader) checkGraph(w *Workflow, at positions) {
	var names []string
	for _, p := range w.Phases {
		names = append(names, clip(string(p.Name)))
	}
	start := w.Start
	if start != "" && w.Phase(start) == nil {
		r.fail(at.start, "start is %s, which is not a phase (%s)", quote(string(start)), alternatives(string(start), names))
		start = PhaseName(Suggest(string(start), names))
	}

	g := graph{next: map[PhaseName][]PhaseName{}}
	nextLap := false
	for i, p := range w.Phases {
		for _, v := range []Verdict{Pass, Fail} {
			line := at.phases[i].pass
			if v == Fail {
				line = at.phases[i].fail
			}
			target := r.checkTarget(w, p, v, line, names)
			nextLap = nextLap || target == NextLap || target == anywhere
			g.add(p.Name, target, start)
		}
	}
	if w.Laps != nil && !nextLap {
		r.fail(at.laps, "laps is set, and no phase leads to %s", NextLap)
	}

	reached := g.from(start)
	for i, p := range w.Phases {
		ahead := g.from(p.Name)
		switch {
		case !reached[anywhere] && !reached[p.Name]:
			r.fail(at.phases[i].line, "phase %s cannot be reached from %s", clip(string(p.Name)), clip(string(start)))
		case !ahead[anywhere] && !ahead[Done]:
			r.fail(at.phases[i].line, "phase %s never leads to %s", clip(string(p.Name)), Done)
		}
	}
}

// checkTarget reports what is wrong with one target and returns what was probably meant, "" for "who knows".
func (r *reader) checkTarget(w *Workflow, p Phase, v Verdict, line int, names []string) PhaseName {
	target := p.On[v]
	what := fmt.Sprintf("phase %s: on: %s", clip(string(p.Name)), v)
	if target != "" && w.Phase(target) == nil && target != Done && target != NextLap {
		all := append(slices.Clone(names), string(Done), string(NextLap))
		r.fail(line, "%s leads to %s, which is not a phase (%s)", what, quote(string(target)), alternatives(string(target), all))
		return PhaseName(Suggest(string(target), all))
	}
	switch {
	case v == Fail && (target == Done || target == NextLap):
		r.fail(line, "%s leads to %s: work that failed its gates would count as done", what, target)
	case target == NextLap && w.Laps == nil:
		r.fail(line, "%s leads to %s, and the workflow has no laps", what, NextLap)
		r.hint("add laps: {agree: person}")
	}
	return target
}

// anywhere is the target that is not known: of it nothing can be said, so nothing is.
const anywhere PhaseName = ""

// graph says which phases lead where.
type graph struct{ next map[PhaseName][]PhaseName }

// add notes one edge. The end of a lap leads to the start, and after the last lap to done.
func (g graph) add(from, to, start PhaseName) {
	if to == NextLap {
		g.next[from] = append(g.next[from], start, Done)
		return
	}
	g.next[from] = append(g.next[from], to)
}

// from returns everything that can be reached from a phase, the phase itself included.
func (g graph) from(start PhaseName) map[PhaseName]bool {
	reached := map[PhaseName]bool{start: true}
	for queue := []PhaseName{start}; len(queue) > 0; queue = queue[1:] {
		for _, to := range g.next[queue[0]] {
			if !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	return reached
}
