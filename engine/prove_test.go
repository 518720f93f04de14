package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// proofs answers every proof with the same words, and remembers what it was asked.
type proofs struct {
	Works
	answer session.Proof
	err    error
	asked  []session.JudgeRequest
}

func (p *proofs) Prove(_ context.Context, r session.JudgeRequest) (session.Proof, error) {
	p.asked = append(p.asked, r)
	return p.answer, p.err
}

// TestWhoIsProven asks for a proof when the work is complete, with the gates that say so, and believes what it finds.
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

		asked   string // gates, "" when nobody is asked
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
			h := &Hand{S: *s, Plan: p, e: &Engine{Works: works}}
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
	// Somewhere on the way nobody is asked: the next lap goes on.
	s, p := one(t, workflows.Phase{Gates: []workflows.Gate{gate("tests")}}, session.RunResult{}, green)
	p.Workflow.Phases[1].On = map[workflows.Verdict]workflows.PhaseName{workflows.Pass: "WORK"}
	if completes(s, p, green) {
		t.Error("what leads to another phase completes the work")
	}
}

// TestNotProven says in the commit what is not known of it, and nothing else.
func TestNotProven(t *testing.T) {
	c := &session.Checkpoint{Tree: "t"}
	unknown := &session.Proof{Tree: "t", Verdict: session.Blocked, Reason: "gate tests: no place"}
	for _, v := range []struct {
		p    *session.Proof
		o    Handover
		want string
	}{
		{nil, Handover{}, ""},
		{nil, Handover{Unproven: true}, "Not tested in a clean checkout (--unproven)."},
		{&session.Proof{Tree: "t", Verdict: session.Pass}, Handover{}, ""},
		{&session.Proof{Tree: "older", Verdict: session.Blocked, Reason: "x"}, Handover{}, ""},
		{unknown, Handover{}, "Not tested in a clean checkout: gate tests: no place"},
		{&session.Proof{Tree: "u", Verdict: session.Blocked, Reason: "of another tree"}, Handover{}, ""},
		{unknown, Handover{Unproven: true}, "Not tested in a clean checkout: gate tests: no place"},
	} {
		if got := notProven(v.p, c, v.o); got != v.want {
			t.Errorf("%+v %+v: %q, want %q", v.p, v.o, got, v.want)
		}
	}
	h := &Hand{S: session.Session{Proof: unknown}, Plan: &workflows.Plan{}}
	if p, err := h.proveHanded(context.Background(), c, Handover{}); err != nil || p != unknown {
		t.Errorf("what is known is found out again: %+v %v", p, err)
	}
	if p, err := (&Hand{Plan: &workflows.Plan{Unproven: true}}).proveHanded(context.Background(), c, Handover{}); err != nil || p != nil {
		t.Errorf("where it is off there is %+v %v", p, err)
	}
}
