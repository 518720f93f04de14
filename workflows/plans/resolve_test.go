package plans

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/workflows"
)

const small = `version: 1
name: small
start: WORK
phases:
  WORK:
    gates: [{use: tests}]
    on: {pass: done}
`

func parse(t *testing.T, text string) *workflows.Workflow {
	t.Helper()
	w, findings := workflows.ParseWorkflow("w.yaml", []byte(text))
	if w == nil {
		t.Fatal(findings)
	}
	return w
}

func goConfig() *workflows.Config {
	return &workflows.Config{
		Version: 1,
		Agent:   workflows.Agent{Command: workflows.Command{Shell: "claude -p"}, Idle: time.Minute, Timeout: time.Hour},
		Env:     []string{"B", "A"},
		Agents:  map[string]workflows.Agent{"reviewer": {Command: workflows.Command{Shell: "codex exec"}}},
		Gates: map[string]workflows.Gate{
			"tests": {Name: "tests", Run: workflows.Command{Shell: "go test -json ./..."}, Format: workflows.FormatGoTest, Where: workflows.InPlace, Timeout: time.Minute},
			"other": {Name: "other", Run: workflows.Command{Shell: "true"}, Format: workflows.FormatExit, Where: workflows.InPlace, Timeout: time.Minute},
		},
	}
}

func TestBuiltins(t *testing.T) {
	t.Parallel()
	if got := workflows.BuiltinNames(); !reflect.DeepEqual(got, []string{"loop", "nine-step", "plan", "reviewed", "tdd-docs", "tdd"}) {
		t.Errorf("names: %v", got)
	}
	for _, name := range workflows.BuiltinNames() {
		text, ok := workflows.BuiltinText(name)
		if !ok {
			t.Fatalf("%s has no text", name)
		}
		if w, findings := workflows.ParseWorkflow(name, text); len(findings) > 0 || w.Name != name || w.Description == "" {
			t.Errorf("%s: %v %+v", name, findings, w)
		}
		w, ok := builtin(name)
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
		if _, ok := builtin(name); ok {
			t.Errorf("there is a built-in %q", name)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	w, _ := builtin("tdd")
	c := goConfig()
	c.Agree = workflows.AgreeAuto
	p, findings := Resolve(w, c, nil)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	tests := c.Gates["tests"]
	if !reflect.DeepEqual(p.Baseline, []workflows.Gate{tests, c.Gates["other"]}) {
		t.Errorf("baseline: %+v", p.Baseline)
	}
	if want := (&workflows.Laps{Agree: workflows.AgreeAuto, Max: 50}); !reflect.DeepEqual(p.Workflow.Laps, want) {
		t.Errorf("laps: %+v", p.Workflow.Laps)
	}
	if !reflect.DeepEqual(p.Agent, c.Agent) || !reflect.DeepEqual(p.Env, []string{"A", "B"}) {
		t.Errorf("agent %+v, env %v", p.Agent, p.Env)
	}
	red := p.Workflow.Phase("RED")
	tests.Expect = workflows.ExpectRed
	if !reflect.DeepEqual(red.Gates, []workflows.Gate{tests}) {
		t.Errorf("gates of RED: %+v", red.Gates)
	}
	if want := (workflows.Limits{Attempts: 12, NoProgress: 3, SameFailure: 5, FailedRuns: 3}); red.Limits != want {
		t.Errorf("limits of RED: %+v", red.Limits)
	}
	if w.Phase("RED").Gates[0].Use != workflows.UseAll || w.Laps.Agree != workflows.AgreePerson || c.Env[0] != "B" || w.Phase("RED").Limits.Attempts != 0 {
		t.Error("Resolve changed its arguments")
	}
}

func TestResolveAgent(t *testing.T) {
	t.Parallel()
	w := parse(t, small)
	c := goConfig()
	p, findings := Resolve(w, c, &workflows.Agent{Command: workflows.Command{Shell: "mine"}, Timeout: time.Second})
	if len(findings) > 0 || !reflect.DeepEqual(p.Agent, workflows.Agent{Command: workflows.Command{Shell: "mine"}, Idle: time.Minute, Timeout: time.Second}) {
		t.Errorf("%v %+v", findings, p)
	}
	c.Agent = workflows.Agent{}
	p, findings = Resolve(w, c, &workflows.Agent{Script: "steps: []", ScriptPath: "s.yaml"})
	if len(findings) > 0 || p.Agent.Idle != workflows.DefaultAgentIdle || p.Agent.Timeout != workflows.DefaultAgentTimeout || p.Agent.Script != "steps: []" {
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
	tdd, _ := builtin("tdd")
	for _, tt := range []struct {
		name string
		w    *workflows.Workflow
		edit func(*workflows.Config)
		want []string // message | hint
	}{
		{"no gate", tdd, func(c *workflows.Config) { c.Gates = nil }, []string{
			"there is no gate \"tests\" in .wfs/config.yaml (used in phase RED) | run `wfs init`, or write it under gates:",
		}},
		{"gate of another name", parse(t, strings.ReplaceAll(small, "use: tests", "use: tets")), func(*workflows.Config) {}, []string{
			"there is no gate \"tets\" in .wfs/config.yaml (used in phase WORK) | there is a gate \"tests\": write use: tests",
		}},
		{"exit code", tdd, func(c *workflows.Config) { c.Gates["tests"] = c.Gates["other"] }, []string{
			"phase RED expects red tests, and no gate of the configuration has per-test results | " + blindHint,
		}},
		{"a name that the workflow has as well", func() *workflows.Workflow { w, _ := builtin("loop"); return w }(), func(c *workflows.Config) { c.Gates["changed"] = c.Gates["other"] }, []string{
			"phase WORK: workflow loop has a gate changed of its own, and the configuration has another one | give the gate another name under gates: in the configuration",
		}},
		{"no agent", tdd, func(c *workflows.Config) { c.Agent.Command = workflows.Command{} }, []string{
			"phases RED, GREEN, REFACTOR of workflow tdd: an agent works there, and none is configured | " +
				"pass --agent, or write agent: into .wfs/local.yaml for every session of this clone; wfs agent list shows those that wfs knows",
		}},
		{"script that nobody read", tdd, func(c *workflows.Config) { c.Agent = workflows.Agent{ScriptPath: "a.yaml"} }, []string{
			"the agent's script a.yaml is empty | ",
		}},
		{"agent that is no text", tdd, func(c *workflows.Config) { c.Agent.Command.Shell = "a\xff" }, []string{
			"the agent's command is not UTF-8 | ",
		}},
		{"everything", tdd, func(c *workflows.Config) { *c = workflows.Config{} }, []string{
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
	w, _ := builtin("tdd")
	p, _ := Resolve(w, goConfig(), nil)
	data, digest := Encode(p)
	again, err := Decode(data)
	if err != nil || !reflect.DeepEqual(again, p) {
		t.Fatalf("%v\n got %+v\nwant %+v", err, again, p)
	}
	data2, digest2 := Encode(again)
	if string(data) != string(data2) || digest != digest2 || len(digest) != 64 {
		t.Errorf("digests %s, %s", digest, digest2)
	}
	for range 20 { // the order of maps is random
		if p, _ := Resolve(w, goConfig(), nil); p == nil {
			t.Fatal("no plan")
		} else if _, d := Encode(p); d != digest {
			t.Fatalf("digests differ: %s, %s", digest, d)
		}
	}
	p.Baseline[0].Timeout++
	if _, d := Encode(p); d == digest {
		t.Error("another plan has the same digest")
	}
}

func TestDecodePlanRefuses(t *testing.T) {
	t.Parallel()
	w, _ := builtin("tdd")
	p, _ := Resolve(w, goConfig(), nil)
	data, _ := Encode(p)
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
		if p, err := Decode([]byte(text)); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.name, p, err, tt.want)
		}
	}
	if _, err := Decode(append(data, '{')); err == nil {
		t.Error("text after the end was taken")
	}
}

// Phases find the agents that they name: in the configuration, the session's own, or a card with its defaults.
func TestResolveAgents(t *testing.T) {
	t.Parallel()
	const flow = `version: 1
name: two
start: A
phases:
  A: {gates: [{name: g, run: x}], on: {pass: B}}
  B: {run: {agent: NAME}, gates: [{name: g, run: x}], on: {pass: done}}
`
	c, findings := parseConfig("c", []byte("version: 1\nagent: {use: claude, model: opus}\nagents:\n  reviewer: {use: codex, idle: 1m}\n  short: gemini\n"))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	for name, want := range map[string]string{"reviewer": "codex  1m0s", "claude": "claude opus 30m0s", "codex": "codex  30m0s", "short": "gemini  30m0s",
		"reviewr": `phase B: there is no agent "reviewr" (did you mean "reviewer"?)`, "cluade": `phase B: there is no agent "cluade" (did you mean "claude"?)`} {
		w, findings := workflows.ParseWorkflow("w", []byte(strings.Replace(flow, "NAME", name, 1)))
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		p, findings := Resolve(w, c, nil)
		if p == nil {
			if len(findings) != 1 || findings[0].Message != want {
				t.Errorf("%s: %v", name, findings)
			}
			continue
		}
		text, _ := Encode(p)
		back, err := Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		a := back.AgentOf(back.Workflow.Phase("B"))
		if got := a.Use + " " + a.Model + " " + a.Idle.String(); got != want || a.Card == nil || a.Card.Name != a.Use || back.AgentOf(back.Workflow.Phase("A")).Model != "opus" {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func FuzzResolve(f *testing.F) {
	for _, name := range workflows.BuiltinNames() {
		text, _ := workflows.BuiltinText(name)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		w, _ := workflows.ParseWorkflow("f", text)
		if w == nil {
			return
		}
		c := goConfig()
		for _, p := range w.Phases {
			for _, g := range p.Gates {
				if g.Use != "" {
					c.Gates[g.Use] = c.Gates["tests"]
				}
			}
		}
		p, findings := Resolve(w, c, nil)
		if p == nil {
			if len(findings) == 0 {
				t.Error("neither a plan nor a finding")
			}
			return
		}
		data, _ := Encode(p)
		if again, err := Decode(data); err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%v\n got %+v\nwant %+v", err, again, p)
		}
	})
}

func builtin(name string) (*workflows.Workflow, bool) {
	text, ok := workflows.BuiltinText(name)
	if !ok {
		return nil, false
	}
	w, _ := workflows.ParseWorkflow(name+".yaml", text)
	return w, w != nil
}

func parseConfig(file string, text []byte) (*workflows.Config, []workflows.Finding) {
	s, findings := workflows.BuiltinCards().Read(workflows.Layer{Source: workflows.FromRepository, Name: file, Text: text})
	if s == nil {
		return nil, findings
	}
	s.Config.Cards = nil // Resolve uses them by default
	return &s.Config, nil
}

// TestASubstituteDoesNotReview checks that the agent that works during a usage limit may not review the work, and that
// its name must be known.
func TestASubstituteDoesNotReview(t *testing.T) {
	t.Parallel()
	for onLimit, want := range map[string]string{"opencode": "", "codex": "same agent and model", "nobody": `no agent "nobody"`} {
		c, f := parseConfig("c", []byte("version: 1\nagent: {use: claude, on-limit: {agent: "+onLimit+"}}\n"+
			"agents: {reviewer: {use: codex}}\ngates: {tests: {run: make test}}\n"))
		if len(f) > 0 {
			t.Fatal(f)
		}
		w := parse(t, string(mustBuiltin(t, "reviewed")))
		p, f := Resolve(w, c, nil)
		switch {
		case want == "" && (len(f) > 0 || p.Agents["opencode"].Card == nil):
			t.Errorf("%s: %v", onLimit, f)
		case want != "" && (len(f) != 1 || !strings.Contains(f[0].String(), want)):
			t.Errorf("%s: %v", onLimit, f)
		}
	}
}
