package present

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/engine/finish"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// gatesRan names the gates that passed in the newest judgement and ran a command for it. It leaves out gates that only
// look at the files.
func gatesRan(s *session.Session) (names []string) {
	for _, g := range s.LastGates {
		if g.Where != session.InTree && g.Verdict == session.Pass {
			names = append(names, g.Gate)
		}
	}
	return names
}

// NotAsked lists the weak points of completed work: new tests that only the agent wrote, no hold-out tests, no review,
// open items, gates that did not run. It does not list a weak point if the session has no data about it.
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
		add("%snew %s, of the agent's or edited by a person", number, safetext.Word(n, "test", "tests"))
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

// AddChangedTests adds test files that were changed or deleted, of a completed session also as a weak point.
func (j *Session) AddChangedTests(list []finish.ChangedTest) {
	j.ChangedTests = list
	if text := changedTests(list); text != "" && j.Status == session.StatusCompleted {
		j.Beware = append(j.Beware, "changed tests: "+text)
	}
}

// changedTests returns the names of changed test files with the numbers of their added and removed lines, "" for none.
func changedTests(list []finish.ChangedTest) string {
	var names []string
	for _, t := range list {
		if t.Deleted {
			names = append(names, t.Path+" deleted")
		} else {
			names = append(names, fmt.Sprintf("%s +%d -%d", t.Path, t.Added, t.Removed))
		}
	}
	return safetext.First(names, 5, ", ")
}

// LapTests counts the new tests of all laps among the checkpoints `way`. `said` is the count as a prefix for "new
// tests". It is "" if the count is inexact because a lap ended before the names of its tests were known.
func LapTests(way []session.Checkpoint) (n int, said string) {
	type lap struct{ tests, waiting int }
	laps := map[int]lap{}
	for _, c := range way {
		switch l := laps[c.Lap]; {
		case c.Next == workflows.Done || c.NextLap != c.Lap: // the lap ended here: these targets are the next lap's
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
