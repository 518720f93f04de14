package tamper

import "slices"

// without returns the checks that only s has, and those that only the other side has.
func (s *side) without(o *side) (lost, gained []asserted) {
	have := map[string][]int{}
	used := make([]bool, len(o.checks))
	name := func(k asserted, precise bool) string {
		if precise {
			return k.unit.name + "\x00" + k.key + "\x00" + k.exact
		}
		return k.key
	}
	lost = s.checks
	for _, precise := range []bool{true, false} {
		clear(have)
		for i, k := range o.checks {
			if !used[i] {
				have[name(k, precise)] = append(have[name(k, precise)], i)
			}
		}
		var rest []asserted
		for _, k := range lost {
			list := have[name(k, precise)]
			if len(list) == 0 {
				rest = append(rest, k)
				continue
			}
			used[list[0]] = true
			have[name(k, precise)] = list[1:]
		}
		lost = rest
	}
	for i, k := range o.checks {
		if !used[i] {
			gained = append(gained, k)
		}
	}
	return lost, gained
}

// unpaired leaves the lost checks for which nothing new stands that asserts as much.
func (c *comparison) unpaired(lost, gained []asserted, pool bag, before, after *side) []asserted {
	var rest []asserted
	used := make([]bool, len(gained))
	left := make([]bag, len(gained))
	for i, g := range gained {
		left[i] = bag{}
		for _, w := range g.lits {
			left[i][w]++
		}
	}
	index := indexOf(gained)
	covered := make([]bool, len(gained))
	lost = slices.DeleteFunc(slices.Clone(lost), func(l asserted) bool { return l.strength == 0 })
	for _, l := range lost { // what they said may have become rows of a table
		for _, w := range l.lits {
			pool[w]++
		}
	}
	order := map[*unit]map[int]int{} // of lost checks, by where they are
	for i, l := range lost {
		if order[l.unit] == nil {
			order[l.unit] = map[int]int{}
		}
		order[l.unit][l.from] = i
	}
	slices.SortStableFunc(lost, func(a, b asserted) int { return min(len(b.lits), 1) - min(len(a.lits), 1) }) // they fit fewer
	for _, own := range []bool{true, false} {                                                                 // what stands in the same test first
		rest = nil
		for _, l := range lost {
			at := -1
			for _, i := range index.near(l, own) {
				if !c.step() {
					break
				}
				if g := gained[i]; !used[i] && own == (g.unit.name == l.unit.name) && g.standsFor(l.check) && (len(l.lits) > 0 || own || g.helper != "") && left[i].take(l.lits) {
					at = i
					break
				}
			}
			if at < 0 {
				if own {
					at = slices.IndexFunc(index.near(l, own), func(i int) bool { return c.step() && !covered[i] && gained[i].covers(l.check) })
				}
				if at < 0 {
					rest = append(rest, l)
				} else {
					covered[index.near(l, own)[at]] = true
				}
				continue
			}
			used[at] = gained[at].helper == ""
		}
		lost = rest
	}
	rest = nil
	tops := [2]bag{before.top(), after.top()}
	for _, l := range lost {
		switch {
		case c.steps > maxSteps:
			rest = append(rest, l)
		case slices.ContainsFunc(l.unit.checks, func(o check) bool { return c.step() && o.exact == l.exact && o.key == l.key && o.from != l.from }) &&
			slices.ContainsFunc(after.units[l.unit.name], func(u *unit) bool {
				return slices.ContainsFunc(u.checks, func(o check) bool { return o.exact == l.exact && o.key == l.key })
			}): // it was there twice
		case c.inherited(l, before, after): // its class inherits it
		case l.implied(before, after): // what is 2 is more than 0
		case l.unwraps(before, after): // taking the error out says so
		case c.snapped(l, gained, used, index): // its text stands in a file
		case c.variable(l, gained, used, index, tops): // its words have names now
		case slices.ContainsFunc(after.units[l.unit.name], func(u *unit) bool {
			return u.table && !l.unit.table && slices.ContainsFunc(u.checks, func(k check) bool {
				return c.step() && k.says == l.says && k.strength >= l.strength && contains(k.lits, l.lits)
			})
		}): // what it looked at became a row of a table
		case slices.ContainsFunc(after.tables, func(u *unit) bool {
			fresh := !slices.ContainsFunc(before.tables, func(o *unit) bool { return o.name == u.name })
			return slices.ContainsFunc(u.checks, func(k check) bool {
				return c.step() && k.strength >= l.strength && !opposite(l.says, k.says) && (len(l.lits) > 0 && pool.take(l.lits) || fresh && len(l.lits) == 0)
			})
		}): // it became a row of a table
		default:
			rest = append(rest, l)
		}
	}
	slices.SortStableFunc(rest, func(a, b asserted) int { return order[a.unit][a.from] - order[b.unit][b.from] })
	return rest
}

// contains reports whether a list of words has all of another.
func contains(list, words []string) bool {
	b := bag{}
	for _, w := range list {
		b[w]++
	}
	return b.take(words)
}

// checkIndex finds checks, as indexes of a list, by the name of their test and by their words.
type checkIndex struct {
	byUnit map[string][]int
	byWord map[string][]int
	helper []int
}

func indexOf(list []asserted) checkIndex {
	x := checkIndex{byUnit: map[string][]int{}, byWord: map[string][]int{}}
	for i, g := range list {
		x.byUnit[g.unit.name] = append(x.byUnit[g.unit.name], i)
		for n, w := range g.lits {
			if n == 0 || w != g.lits[n-1] {
				x.byWord[w] = append(x.byWord[w], i)
			}
		}
		if g.helper != "" {
			x.helper = append(x.helper, i)
		}
	}
	return x
}

// near lists the checks that may stand for one: those of its own test, or those that have its rarest word.
func (x checkIndex) near(l asserted, own bool) []int {
	if own {
		return x.byUnit[l.unit.name]
	}
	if len(l.lits) == 0 {
		return x.helper
	}
	best := x.byWord[l.lits[0]]
	for _, w := range l.lits[1:] {
		if list := x.byWord[w]; len(list) < len(best) {
			best = list
		}
	}
	return best
}

// variable finds a new check of the same test that says the same with names in place of texts and numbers, which stand
// beside it now. In a test that the work is about they must be new there.
func (c *comparison) variable(l asserted, gained []asserted, used []bool, index checkIndex, tops [2]bag) bool {
	target := c.Target != nil && c.Target(l.unit.name)
	for _, i := range index.near(l, true) {
		g := gained[i]
		if !c.step() {
			return false
		}
		if used[i] || g.unit.name != l.unit.name || g.says != l.says || g.strength < l.strength {
			continue
		}
		need := bag{}
		for _, w := range l.lits {
			need[w]++
		}
		for _, w := range g.lits {
			need[w]--
		}
		fits := true
		for w, n := range need {
			beside := g.unit.lits[w] + tops[1][w] // named constants, too
			if target {
				beside -= l.unit.lits[w] + tops[0][w]
			}
			fits = fits && (n <= 0 || beside >= n || !target && beside > 0)
		}
		if fits {
			used[i] = true
			return true
		}
	}
	return false
}

// top are the texts and numbers that stand in no function.
func (s *side) top() bag {
	b := bag{}
	for _, p := range s.files {
		b.addAll(p.units[0].lits, 1)
	}
	return b
}

// maxSteps bounds how often two checks are compared, which takes about half a second: what finds no partner by then
// has none. A thousand checks of one test would have to change.
const maxSteps = 1 << 20

// step reports whether two checks may still be compared.
func (c *comparison) step() bool {
	c.steps++
	return c.steps <= maxSteps
}
