package judging

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// proofs returns the same proof to every request, and records the requests.
type proofs struct {
	Gates
	answer session.Proof
	err    error
	asked  []session.JudgeRequest
}

func (p *proofs) Prove(_ context.Context, r session.JudgeRequest) (session.Proof, error) {
	p.asked = append(p.asked, r)
	return p.answer, p.err
}

// TestWhoIsProven checks that completed work is proven, with the right gates, and that the result is applied.
func TestWhoIsProven(t *testing.T) {
	gate := func(name string) workflows.Gate {
		return workflows.Gate{Name: name, Run: workflows.Command{Shell: "true"}}
	}
	changes := gate("format")
	changes.MayChangeTree = true
	look := workflows.Gate{Name: "changed", Changes: []string{"**"}}
	passed := session.Proof{Verdict: session.Pass, Class: session.ClassGreen}
	lacks := session.Proof{Verdict: session.Fail, Class: session.ClassNotClean, Reason: "it lacks a file", Lacks: []string{"a"}}
	unknown := session.Proof{Verdict: session.Blocked, Class: session.ClassInfraError, Reason: "nobody knows"}
	last := func(v session.Verdict, names ...string) (list []session.GateResult) {
		for _, n := range names {
			list = append(list, session.GateResult{Gate: n, Verdict: v})
		}
		return list
	}
	stops := errors.New("stopped")
	for _, c := range []struct {
		name   string
		phase  workflows.Phase
		plan   workflows.Plan
		run    session.RunResult
		j      session.Judgement
		last   []session.GateResult
		items  int
		answer session.Proof
		err    error

		asked   string // gates, "" when no proof is requested
		verdict session.Verdict
		proof   bool
	}{
		{name: "complete", phase: workflows.Phase{Gates: []workflows.Gate{gate("tests"), look, changes}}, j: green, answer: passed, asked: "tests", verdict: session.Pass, proof: true},
		{name: "lacks a file", phase: workflows.Phase{Gates: []workflows.Gate{gate("tests")}}, j: green, answer: lacks, asked: "tests", verdict: session.Fail, proof: true},
		{name: "nobody could find out", phase: workflows.Phase{Gates: []workflows.Gate{gate("tests")}}, j: green, answer: unknown, asked: "tests", verdict: session.Pass, proof: true},
		{name: "interrupted", phase: workflows.Phase{Gates: []workflows.Gate{gate("tests")}}, j: green, err: stops, asked: "tests", verdict: session.Pass},
		{name: "failed", phase: workflows.Phase{Gates: []workflows.Gate{gate("tests")}}, j: red, answer: lacks, verdict: session.Fail},
		{name: "passes without the word that it needs", phase: workflows.Phase{Gates: []workflows.Gate{gate("tests")}, Signal: workflows.SignalRequired}, j: green, answer: lacks, verdict: session.Pass},
		{name: "switched off", phase: workflows.Phase{Gates: []workflows.Gate{gate("tests")}}, plan: workflows.Plan{Unproven: true}, j: green, answer: lacks, verdict: session.Pass},
		{name: "a phase of a person's, after gates that passed", phase: workflows.Phase{Gates: []workflows.Gate{look}}, plan: workflows.Plan{Baseline: []workflows.Gate{gate("lint"), gate("tests"), changes}},
			j: green, last: append(last(session.Pass, "tests", "format"), last(session.Fail, "lint")...), answer: passed, asked: "tests", verdict: session.Pass, proof: true},
		{name: "a phase without gates, and none passed", phase: workflows.Phase{}, plan: workflows.Plan{Baseline: []workflows.Gate{gate("tests")}}, j: green, last: last(session.Fail, "tests"), answer: lacks, verdict: session.Pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, p := one(t, c.phase, c.run, c.j)
			p.Unproven, p.Baseline, s.LastGates = c.plan.Unproven, c.plan.Baseline, c.last
			works := &proofs{answer: c.answer, err: c.err}
			h := &Judging{Hand: &hand.Hand{S: *s, Plan: p}, Tools: &Tools{Gates: works},
				Convert: func(context.Context) (back, elsewhere []string, err error) { return nil, nil, nil }}
			j, err := h.prove(context.Background(), session.JudgeRequest{Tree: "another", Phase: c.phase}, c.j)
			var asked []string
			for _, r := range works.asked {
				for _, g := range r.Phase.Gates {
					asked = append(asked, g.Name)
				}
				if r.Tree != c.j.Tree {
					t.Errorf("asked about %s, not about what was judged", r.Tree)
				}
			}
			if got := strings.Join(asked, " "); got != c.asked || !errors.Is(err, c.err) || j.Verdict != c.verdict || (j.Proof != nil) != c.proof {
				t.Errorf("asked %q, %s, proof %v, %v", got, j.Verdict, j.Proof, err)
			}
			if c.verdict == session.Fail && c.proof && (j.Class != c.answer.Class || j.Reason != c.answer.Reason) {
				t.Errorf("it fails as %s: %s", j.Class, j.Reason)
			}
		})
	}
	// No proof is requested before the end: the next lap follows.
	s, p := one(t, workflows.Phase{Gates: []workflows.Gate{gate("tests")}}, session.RunResult{}, green)
	p.Workflow.Phases[1].On = map[workflows.Verdict]workflows.PhaseName{workflows.Pass: "WORK"}
	if decide.Completes(s, p, green) {
		t.Error("what leads to another phase completes the work")
	}
}

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
