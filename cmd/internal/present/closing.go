package present

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// gatesRan names the gates whose command the newest judgement rests on.
func gatesRan(s *session.Session) (names []string) {
	for _, g := range s.LastGates {
		if g.Where != session.InTree && g.Verdict == session.Pass {
			names = append(names, g.Gate)
		}
	}
	return names
}

// NotAsked lists what nobody but whoever worked has seen to, of completed work: what is not known is left out.
func NotAsked(s *session.Session) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	way := s.Way()
	person := slices.ContainsFunc(way, func(c session.Checkpoint) bool {
		return c.Number > 0 &&
			(c.Trigger == session.TriggerManual || c.Trigger == session.TriggerFound || c.Trigger == session.TriggerSwitch)
	})
	switch n, number := LapTests(way); {
	case n == 0 && len(gatesRan(s)) > 0 && !person:
		add("no new test was requested")
	case n > 0 && person:
		add("%snew %s, of the agent's or edited by a person", number, Plural(n, "test", "tests"))
	case n == 1 && number != "":
		add("the new test is the agent's own")
	case n > 0:
		add("all %snew tests are the agent's own", number)
	}
	if s.HoldoutAt(s.Current) == nil {
		add("no hold-out tests")
	}
	if !slices.ContainsFunc(way, func(c session.Checkpoint) bool {
		return c.Verdict == session.Pass && (c.Class == session.ClassReviewed || c.Class == session.ClassApproved)
	}) && !items.ApprovedInTheEnd(s, s.Current) {
		add("no review")
	}
	for _, item := range items.States(s) {
		if item.State != session.ItemDelivered {
			add("item %d %s", item.Number, item.Says())
		}
	}
	if ProofOf(s) == nil && len(gatesRan(s)) > 0 {
		add("not tried in a clean tree")
	}
	small := map[string]int{}
	for _, c := range way {
		if c.TooSmall != "" {
			small[string(c.TooSmall)]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(small)) {
		add("%s was left out in %s: too little code for it", name, N(small[name], "lap"))
	}
	for _, g := range s.NotRun {
		add("gate %s was not run: %s", g.Gate, g.Why)
	}
	return list
}

// LapTests is how many tests laps were about, on a line of checkpoints, as a word to put before "new tests": without a
// number where a lap ended before its tests had names.
func LapTests(way []session.Checkpoint) (n int, said string) {
	type lap struct{ tests, waiting int }
	laps := map[int]lap{}
	for _, c := range way {
		switch l := laps[c.Lap]; {
		case c.Next == workflows.Done || c.NextLap != c.Lap: // what it names is the next lap's
		case len(c.Targets) > 0:
			laps[c.Lap] = lap{tests: len(c.Targets)}
		case l.tests == 0:
			laps[c.Lap] = lap{waiting: len(c.Expected)}
		}
	}
	waiting := 0
	for _, l := range laps {
		n, waiting = n+l.tests, waiting+l.waiting
	}
	if waiting > 0 {
		return n + waiting, ""
	}
	return n, fmt.Sprint(n, " ")
}
