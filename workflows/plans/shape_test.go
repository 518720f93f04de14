package plans

import (
	"reflect"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/workflows"
)

// shaped returns a plan of a workflow at a complexity and autonomy.
func shaped(t *testing.T, text string, c workflows.Complexity, a workflows.Autonomy) *workflows.Plan {
	t.Helper()
	w, findings := workflows.ParseWorkflow("w.yaml", []byte(text))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	config := goConfig()
	config.Complexity, config.Autonomy = c, a
	p, findings := Resolve(w, config, nil)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return p
}

// road returns the phases of a plan with where they lead: "A>B|A" for pass and fail.
func road(p *workflows.Plan) string {
	var all []string
	for _, ph := range p.Workflow.Phases {
		all = append(all, string(ph.Name+">"+ph.On[workflows.Pass]+"|"+ph.On[workflows.Fail]))
	}
	return strings.Join(all, " ")
}

const steps = `version: 1
name: w
start: FIRST
laps: {first: SECOND, then: LAST}
phases:
  FIRST:
    gates: [{use: tests}]
    complexity: [medium, complex]
    breakpoint: balanced
    on: {pass: SECOND}
  SECOND:
    gates: [{use: tests}, {use: other, complexity: [complex]}, {use: nothing, optional: true}]
    on: {pass: THIRD}
  THIRD:
    gates: [{use: tests}]
    complexity: [complex]
    breakpoint: always
    on: {pass: next-lap, fail: FIRST}
  LAST:
    gates: [{use: tests}, {name: changed, changes: ["**"]}]
    breakpoint: cautious
    on: {pass: done, fail: SECOND}
`

func TestComplexityAndAutonomy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		complexity workflows.Complexity
		autonomy   workflows.Autonomy
		start      workflows.PhaseName
		road       string
		gates      int // of SECOND
	}{
		{"complex", "aggressive", "FIRST", "FIRST>SECOND|FIRST SECOND>THIRD|SECOND THIRD>THIRD-APPROVAL|FIRST " +
			"THIRD-APPROVAL>next-lap|THIRD LAST>done|SECOND", 2},
		{"medium", "", "FIRST", "FIRST>FIRST-APPROVAL|FIRST FIRST-APPROVAL>SECOND|FIRST SECOND>next-lap|SECOND LAST>done|SECOND", 1},
		{"simple", "cautious", "SECOND", "SECOND>next-lap|SECOND LAST>LAST-APPROVAL|SECOND LAST-APPROVAL>done|LAST", 1},
	} {
		p := shaped(t, steps, c.complexity, c.autonomy)
		if got := road(p); got != c.road || p.Workflow.Start != c.start {
			t.Errorf("%s, %s: %s from %s\nwant %s from %s", c.complexity, c.autonomy, got, p.Workflow.Start, c.road, c.start)
		}
		if n := len(p.Workflow.Phase("SECOND").Gates); n != c.gates {
			t.Errorf("%s: SECOND has %d gates, want %d", c.complexity, n, c.gates)
		}
		if a := p.Workflow.Phase("LAST-APPROVAL"); a != nil && (len(a.Gates) != 1 || a.Gates[0].Name != "tests") {
			t.Errorf("the approval is judged by %+v", a.Gates)
		}
	}
}

// A plan without breakpoints and complexities is the same as before they existed: sessions of older builds compare it.
func TestPlansWithoutShapeStayTheSame(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tdd", "loop"} {
		w, ok := builtin(name)
		if !ok {
			t.Fatal(name)
		}
		p, findings := Resolve(w, goConfig(), nil)
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		text, _ := Encode(p)
		for _, word := range []string{"autonomy", "complexity", "breakpoint", "approves", `"first"`, `"then"`} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s: the plan has %s", name, word)
			}
		}
	}
}

func TestRequiredNumbersAreRead(t *testing.T) {
	t.Parallel()
	w, findings := workflows.ParseWorkflow("w.yaml", []byte(strings.Replace(steps, "{use: tests}", "{use: tests, require: [coverage >= 80]}", 1)))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	_, findings = Resolve(w, goConfig(), nil)
	if len(findings) != 1 || !strings.Contains(findings[0].String(), "gate tests reads no such number") {
		t.Error(findings)
	}
}

// The workflow tdd-docs is tdd with something after its laps.
func TestTddDocsIsTdd(t *testing.T) {
	t.Parallel()
	tdd, _ := builtin("tdd")
	docs, _ := builtin("tdd-docs")
	for _, ph := range tdd.Phases {
		if other := docs.Phase(ph.Name); other == nil || !reflect.DeepEqual(*other, ph) {
			t.Errorf("%s differs", ph.Name)
		}
	}
}
