package session_test

import (
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestFurthest expects that an earlier attempt is returned only if it got further than the newest one.
func TestFurthest(t *testing.T) {
	t.Parallel()
	gates := func(passing int) []session.GateResult {
		return []session.GateResult{{Gate: "tests", Verdict: session.Fail, Counts: session.Counts{Passed: 3, Failed: 1},
			Passing: passing}}
	}
	for name, tc := range map[string]struct {
		best   int
		has    session.Reached
		newest int // targets that pass after the newest attempt
		class  session.Class
		want   int
	}{
		"it fell behind": {best: 1, has: session.Reached{Ran: true, Targets: 2}, newest: 1,
			class: session.ClassTargetFailing, want: 1},
		"all got as far": {best: 1, has: session.Reached{Ran: true, Targets: 1}, newest: 1,
			class: session.ClassTargetFailing},
		"the newest is the best": {best: 3, has: session.Reached{Ran: true, Targets: 1}, newest: 1,
			class: session.ClassTargetFailing},
		"nothing got anywhere":  {best: 1, newest: 0, class: session.ClassBuildBroken},
		"now it does not build": {best: 1, has: session.Reached{Ran: true}, class: session.ClassBuildBroken, want: 1},
		"now the tests were weakened": {best: 1, has: session.Reached{Ran: true, Targets: 1}, newest: 2,
			class: session.ClassTampered, want: 1},
		"none was made": {},
	} {
		t.Run(name, func(t *testing.T) {
			s := session.Session{Current: 3, Checkpoints: make([]session.Checkpoint, 4),
				Last: &session.Decided{Class: tc.class}, LastGates: gates(tc.newest)}
			for i := range s.Checkpoints {
				s.Checkpoints[i].Number = i
			}
			s.Visit.BestAt, s.Visit.BestHas = tc.best, tc.has
			got := 0
			if c := s.Furthest(); c != nil {
				got = c.Number
			}
			if got != tc.want {
				t.Errorf("checkpoint %d, want %d", got, tc.want)
			}
		})
	}
}

// TestReachedOfSeveralGates: the lap's tests may be those of any gate, and the tests of all gates count.
func TestReachedOfSeveralGates(t *testing.T) {
	t.Parallel()
	j := session.Judgement{Class: session.ClassTargetFailing, Gates: []session.GateResult{
		{Gate: "api", Verdict: session.Pass, Class: session.ClassGreen, Counts: session.Counts{Passed: 12}},
		{Gate: "web", Verdict: session.Fail, Class: session.ClassTargetFailing,
			Counts: session.Counts{Passed: 3, Failed: 1}, Passing: 1},
	}}
	if r := j.Reached(); r.Targets != 1 || r.Tests != 0 {
		t.Errorf("with targets: %+v", r)
	}
	j.Class, j.Gates[1].Class, j.Gates[1].Passing = session.ClassBrokeGreen, session.ClassBrokeGreen, 0
	if r := j.Reached(); r.Tests != 15 {
		t.Errorf("without: %+v", r)
	}
}
