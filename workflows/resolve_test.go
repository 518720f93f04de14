package workflows

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func parse(t *testing.T, text string) *Workflow {
	t.Helper()
	w, findings := ParseWorkflow("w.yaml", []byte(text))
	if w == nil {
		t.Fatal(findings)
	}
	return w
}

func goConfig() *Config {
	return &Config{
		Version: 1,
		Agent:   Agent{Command: Command{Shell: "claude -p"}, Idle: time.Minute, Timeout: time.Hour},
		Env:     []string{"B", "A"},
		Agents:  map[string]Agent{"reviewer": {Command: Command{Shell: "codex exec"}}},
		Gates: map[string]Gate{
			"tests": {Name: "tests", Run: Command{Shell: "go test -json ./..."}, Format: FormatGoTest, Where: InPlace, Timeout: time.Minute},
			"other": {Name: "other", Run: Command{Shell: "true"}, Format: FormatExit, Where: InPlace, Timeout: time.Minute},
		},
	}
}

func TestBuiltins(t *testing.T) {
	t.Parallel()
	if got := BuiltinNames(); !reflect.DeepEqual(got, []string{"loop", "plan", "reviewed", "tdd"}) {
		t.Errorf("names: %v", got)
	}
	for _, name := range BuiltinNames() {
		text, ok := BuiltinText(name)
		if !ok {
			t.Fatalf("%s has no text", name)
		}
		if w, findings := ParseWorkflow(name, text); len(findings) > 0 || w.Name != name || w.Description == "" {
			t.Errorf("%s: %v %+v", name, findings, w)
		}
		w, ok := Builtin(name)
		if !ok {
			t.Fatalf("%s cannot be read", name)
		}
		if _, findings := Resolve(w, goConfig(), nil); len(findings) > 0 {
			t.Errorf("%s: %v", name, findings)
		}
		for _, p := range w.Phases {
			if p.Run.Human {
				if p.Brief == "" || strings.Count(strings.TrimSpace(p.Brief), "\n") > 0 {
					t.Errorf("%s: the question of %s is %q", name, p.Name, p.Brief)
				}
			} else if len(p.Brief) < 200 || len(p.Brief) > 2000 {
				t.Errorf("%s: the brief of %s has %d bytes", name, p.Name, len(p.Brief))
			}
		}
	}
	for _, name := range []string{"", "nothing", "../builtin/tdd", "tdd.yaml"} {
		if _, ok := Builtin(name); ok {
			t.Errorf("there is a built-in %q", name)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	w, _ := Builtin("tdd")
	c := goConfig()
	c.Agree = AgreeAuto
	p, findings := Resolve(w, c, nil)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	tests := c.Gates["tests"]
	if !reflect.DeepEqual(p.Baseline, []Gate{tests, c.Gates["other"]}) {
		t.Errorf("baseline: %+v", p.Baseline)
	}
	if want := (&Laps{Agree: AgreeAuto, Max: 50}); !reflect.DeepEqual(p.Workflow.Laps, want) {
		t.Errorf("laps: %+v", p.Workflow.Laps)
	}
	if !reflect.DeepEqual(p.Agent, c.Agent) || !reflect.DeepEqual(p.Env, []string{"A", "B"}) {
		t.Errorf("agent %+v, env %v", p.Agent, p.Env)
	}
	red := p.Workflow.Phase("RED")
	tests.Expect = ExpectRed
	if !reflect.DeepEqual(red.Gates, []Gate{tests}) {
		t.Errorf("gates of RED: %+v", red.Gates)
	}
	if want := (Limits{Attempts: 12, NoProgress: 3, SameFailure: 5, FailedRuns: 3}); red.Limits != want {
		t.Errorf("limits of RED: %+v", red.Limits)
	}
	if w.Phase("RED").Gates[0].Use != UseAll || w.Laps.Agree != AgreePerson || c.Env[0] != "B" || w.Phase("RED").Limits.Attempts != 0 {
		t.Error("Resolve changed its arguments")
	}
}

func TestResolveAgent(t *testing.T) {
	t.Parallel()
	w := parse(t, small)
	c := goConfig()
	p, findings := Resolve(w, c, &Agent{Command: Command{Shell: "mine"}, Timeout: time.Second})
	if len(findings) > 0 || !reflect.DeepEqual(p.Agent, Agent{Command: Command{Shell: "mine"}, Idle: time.Minute, Timeout: time.Second}) {
		t.Errorf("%v %+v", findings, p)
	}
	c.Agent = Agent{}
	p, findings = Resolve(w, c, &Agent{Script: "steps: []", ScriptPath: "s.yaml"})
	if len(findings) > 0 || p.Agent.Idle != DefaultAgentIdle || p.Agent.Timeout != DefaultAgentTimeout || p.Agent.Script != "steps: []" {
		t.Errorf("%v %+v", findings, p)
	}
}

func TestResolveInlineOnly(t *testing.T) {
	t.Parallel()
	w := parse(t, `version: 1
name: gen
start: A
phases:
  A:
    run: {command: make gen}
    gates: [{name: build, run: make}, {name: lint, run: make}]
    on: {pass: B}
  B:
    run: {command: make doc}
    gates: [{name: build, run: make}]
    on: {pass: done}
`)
	p, findings := Resolve(w, nil, nil)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if len(p.Baseline) != 2 || p.Baseline[0].Name != "build" || p.Baseline[1].Name != "lint" || p.Baseline[0].Expect != "" {
		t.Errorf("baseline: %+v", p.Baseline)
	}
}

func TestResolveFindings(t *testing.T) {
	t.Parallel()
	tdd, _ := Builtin("tdd")
	for _, tt := range []struct {
		name string
		w    *Workflow
		edit func(*Config)
		want []string // message | hint
	}{
		{"no gate", tdd, func(c *Config) { c.Gates = nil }, []string{
			"there is no gate \"tests\" in .wfs/config.yaml (used in phase RED) | run `wfs init`, or write it under gates:",
		}},
		{"gate of another name", parse(t, strings.ReplaceAll(small, "use: tests", "use: tets")), func(*Config) {}, []string{
			"there is no gate \"tets\" in .wfs/config.yaml (used in phase WORK) | there is a gate \"tests\": write use: tests",
		}},
		{"exit code", tdd, func(c *Config) { c.Gates["tests"] = c.Gates["other"] }, []string{
			"phase RED expects red tests, and no gate of the configuration has per-test results | " + blindHint,
		}},
		{"a name that the workflow has as well", func() *Workflow { w, _ := Builtin("loop"); return w }(), func(c *Config) { c.Gates["changed"] = c.Gates["other"] }, []string{
			"phase WORK: workflow loop has a gate changed of its own, and the configuration has another one | give the gate another name under gates: in the configuration",
		}},
		{"no agent", tdd, func(c *Config) { c.Agent.Command = Command{} }, []string{
			"phases RED, GREEN, REFACTOR of workflow tdd: an agent works there, and none is configured | " +
				"pass --agent, or write agent: into .wfs/local.yaml for every session of this clone; wfs agent list shows those that wfs knows",
		}},
		{"script that nobody read", tdd, func(c *Config) { c.Agent = Agent{ScriptPath: "a.yaml"} }, []string{
			"the agent's script a.yaml is empty | ",
		}},
		{"agent that is no text", tdd, func(c *Config) { c.Agent.Command.Shell = "a\xff" }, []string{
			"the agent's command is not UTF-8 | ",
		}},
		{"everything", tdd, func(c *Config) { *c = Config{} }, []string{
			"there is no gate \"tests\" in .wfs/config.yaml (used in phase RED) | run `wfs init`, or write it under gates:",
			"phases RED, GREEN, REFACTOR of workflow tdd: an agent works there, and none is configured | " +
				"pass --agent, or write agent: into .wfs/local.yaml for every session of this clone; wfs agent list shows those that wfs knows",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := goConfig()
			tt.edit(c)
			p, findings := Resolve(tt.w, c, nil)
			var got []string
			for _, f := range findings {
				got = append(got, f.String()+" | "+f.Hint)
			}
			if p != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("plan %v\n got %q\nwant %q", p, got, tt.want)
			}
		})
	}
}

func TestPlanRoundTrip(t *testing.T) {
	t.Parallel()
	w, _ := Builtin("tdd")
	p, _ := Resolve(w, goConfig(), nil)
	data, digest := EncodePlan(p)
	again, err := DecodePlan(data)
	if err != nil || !reflect.DeepEqual(again, p) {
		t.Fatalf("%v\n got %+v\nwant %+v", err, again, p)
	}
	data2, digest2 := EncodePlan(again)
	if string(data) != string(data2) || digest != digest2 || len(digest) != 64 {
		t.Errorf("digests %s, %s", digest, digest2)
	}
	for range 20 { // maps are walked in another order each time
		if p, _ := Resolve(w, goConfig(), nil); p == nil {
			t.Fatal("no plan")
		} else if _, d := EncodePlan(p); d != digest {
			t.Fatalf("digests differ: %s, %s", digest, d)
		}
	}
	p.Baseline[0].Timeout++
	if _, d := EncodePlan(p); d == digest {
		t.Error("another plan has the same digest")
	}
}

func TestDecodePlanRefuses(t *testing.T) {
	t.Parallel()
	w, _ := Builtin("tdd")
	p, _ := Resolve(w, goConfig(), nil)
	data, _ := EncodePlan(p)
	for _, tt := range []struct{ name, old, new, want string }{
		{"nothing", string(data), "", "not a plan: unexpected end of JSON input"},
		{"torn", string(data[len(data)-20:]), "", "not a plan: unexpected end of JSON input"},
		{"newer", `"version": 1`, `"version": 2`, "written by a newer version of wfs: the plan has version 2; this wfs reads version 1"},
		{"unknown field", `"version": 1`, `"version": 1, "new": true`, `not a plan: json: unknown field "new"`},
		{"start", `"start": "RED"`, `"start": "BLUE"`, `not a plan: start "BLUE" is not a phase`},
		{"target", `"pass": "GREEN"`, `"pass": "BLUE"`, `not a plan: phase "RED": pass leads to "BLUE", which is not a phase`},
		{"no target", `"pass": "GREEN"`, `"passed": "GREEN"`, `not a plan: phase "RED": pass leads to "", which is not a phase`},
		{"phase twice", `"name": "GREEN"`, `"name": "RED"`, `not a plan: phase "RED": pass leads to "GREEN", which is not a phase`},
	} {
		text := strings.Replace(string(data), tt.old, tt.new, 1)
		if text == string(data) {
			t.Fatalf("%s: nothing was changed", tt.name)
		}
		if p, err := DecodePlan([]byte(text)); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.name, p, err, tt.want)
		}
	}
	if _, err := DecodePlan(append(data, '{')); err == nil {
		t.Error("text after the end was taken")
	}
}
