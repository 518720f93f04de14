package decide

import (
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// one returns a session whose open attempt was run and judged, in a workflow with the given phase.
func one(t *testing.T, ph workflows.Phase, run session.RunResult, j session.Judgement) (*session.Session, *workflows.Plan) {
	t.Helper()
	ph.Name, ph.Run = "REVIEW", workflows.Run{Agent: true}
	ph.On = map[workflows.Verdict]workflows.PhaseName{workflows.Pass: workflows.Done, workflows.Fail: "WORK"}
	work := workflows.Phase{Name: "WORK", Run: workflows.Run{Agent: true}, On: map[workflows.Verdict]workflows.PhaseName{workflows.Pass: "REVIEW", workflows.Fail: "WORK"}}
	p := &workflows.Plan{Workflow: workflows.Workflow{Name: "w", Start: "WORK", Phases: []workflows.Phase{work, ph}}}
	o := &session.Open{AttemptStarted: session.AttemptStarted{Phase: "REVIEW", Lap: 1, Attempt: 1, Tree: "t", Runner: "agent"}, Run: &run, After: j.Tree, Judgement: &j}
	return &session.Session{Status: session.StatusRunning, Phase: "REVIEW", Lap: 1, Open: o}, p
}

var (
	green = session.Judgement{Tree: "t", Verdict: session.Pass, Class: session.ClassGreen}
	red   = session.Judgement{Tree: "t", Verdict: session.Fail, Class: session.ClassBrokeGreen}
)

// Where the phase requires it, the gates and the agent's report must agree in one attempt; no report makes red green.
func TestDualGate(t *testing.T) {
	yes, no, silent := session.RunResult{Done: true}, session.RunResult{NotDone: true}, session.RunResult{}
	for _, c := range []struct {
		signal workflows.Signal
		run    session.RunResult
		j      session.Judgement
		next   workflows.PhaseName
		class  session.Class
	}{
		{"", silent, green, workflows.Done, session.ClassGreen},
		{"", no, green, workflows.Done, session.ClassGreen},
		{"", yes, red, "WORK", session.ClassBrokeGreen},
		{workflows.SignalVeto, silent, green, workflows.Done, session.ClassGreen},
		{workflows.SignalVeto, yes, green, workflows.Done, session.ClassGreen},
		{workflows.SignalVeto, no, green, "REVIEW", session.ClassUnsigned},
		{workflows.SignalRequired, yes, green, workflows.Done, session.ClassGreen},
		{workflows.SignalRequired, silent, green, "REVIEW", session.ClassUnsigned},
		{workflows.SignalRequired, no, green, "REVIEW", session.ClassUnsigned},
		{workflows.SignalRequired, yes, red, "WORK", session.ClassBrokeGreen},
		{workflows.SignalRequired, silent, red, "WORK", session.ClassBrokeGreen},
	} {
		s, p := one(t, workflows.Phase{Signal: c.signal}, c.run, c.j)
		d := conclude(s, p)
		if d.Next != c.next || d.Class != c.class {
			t.Errorf("%q, %+v on %s: %s (%s), want %s (%s)", c.signal, c.run, c.j.Verdict, d.Next, d.Class, c.next, c.class)
		}
		if passed := d.Verdict == session.Pass; passed != (d.Next == workflows.Done) {
			t.Errorf("%q, %+v on %s: %s leads to %s", c.signal, c.run, c.j.Verdict, d.Verdict, d.Next)
		}
		if d.Class == session.ClassUnsigned && (!d.Progress || d.Refuted) {
			t.Errorf("a missing word counts as a failure: %+v", d)
		}
	}
}

func TestReviewVerdicts(t *testing.T) {
	approve := &session.Review{Verdict: session.Approve}
	reject := &session.Review{Verdict: session.Reject, Findings: []session.Remark{{Path: "a.go", Line: 3, What: "wrong"}}}
	guard := session.Judgement{Tree: "u", Verdict: session.Fail, Class: session.ClassGuard}
	for name, c := range map[string]struct {
		v      *session.Review
		rounds int
		j      session.Judgement
		next   workflows.PhaseName
		class  session.Class
	}{
		"approved":            {approve, 0, green, workflows.Done, session.ClassReviewed},
		"approved, red":       {approve, 0, red, "WORK", session.ClassBrokeGreen},
		"rejected":            {reject, 0, green, "WORK", session.ClassRejected},
		"rejected twice":      {reject, 1, green, "WORK", session.ClassRejected},
		"rejected to the end": {reject, 2, green, "REVIEW", session.ClassRejected},
		"no verdict":          {nil, 0, green, "REVIEW", session.ClassNoReview},
		"changed files":       {approve, 0, guard, "REVIEW", session.ClassGuard},
	} {
		s, p := one(t, workflows.Phase{Review: &workflows.Review{By: workflows.ByOther, Rounds: 3}}, session.RunResult{Review: c.v}, c.j)
		if c.rounds > 0 {
			s.Rounds = map[session.PhaseName]int{"REVIEW": c.rounds}
		}
		d := conclude(s, p)
		if d.Next != c.next || d.Class != c.class || d.Verdict == session.Pass != (c.next == workflows.Done) {
			t.Errorf("%s: %+v", name, d)
		}
		if d.Class == session.ClassRejected && !strings.Contains(d.Reason, "a.go:3: wrong") {
			t.Errorf("%s: %s", name, d.Reason)
		}
	}
	// After the last round no agent starts: a person is asked.
	s, p := one(t, workflows.Phase{Review: &workflows.Review{Rounds: 3}}, session.RunResult{}, green)
	s.Open, s.Rounds = nil, map[session.PhaseName]int{"REVIEW": 3}
	d := Decide(s, p, Facts{})
	if w, ok := d.Events[0].(session.Waiting); !ok || !w.Approve || d.Effect != EffectStop {
		t.Errorf("%+v", d)
	}
	s.Rounds, s.Visit.Unsigned = nil, maxUnsigned
	d = Decide(s, p, Facts{})
	if w, ok := d.Events[0].(session.Waiting); !ok || !w.Approve {
		t.Errorf("%+v", d)
	}
}
