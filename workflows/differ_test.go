package workflows

import (
	"strings"
	"testing"
	"time"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	w, findings := ParseWorkflow("tdd.yaml", mustBuiltin(t, "tdd"))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	config := func(text string) *Config {
		c, findings := ParseConfig("config.yaml", []byte("version: 1\n"+text))
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		return c
	}
	plan := func(change func(w *Workflow, c *Config)) *Plan {
		c := config("agent: codex\ngates:\n  tests: {run: go test -json ./..., format: go-test-json}\n")
		own := *w
		own.Phases = append([]Phase{}, w.Phases...)
		if change != nil {
			change(&own, c)
		}
		p, findings := Resolve(&own, c, nil)
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		text, _ := EncodePlan(p) // as it comes out of a ledger
		back, err := DecodePlan(text)
		if err != nil {
			t.Fatal(err)
		}
		return back
	}
	for _, c := range []struct {
		name   string
		change func(w *Workflow, c *Config)
		want   string
	}{
		{"nothing", nil, ""},
		{"agent", func(_ *Workflow, c *Config) { c.Agent = Agent{Command: Command{Argv: []string{"claude", "-p"}}} }, "agent: codex → claude -p"},
		{"model", func(_ *Workflow, c *Config) { c.Agent.Model = "o4" }, "agent: model: none → o4"},
		{"allow", func(_ *Workflow, c *Config) { c.Agent.Allow = []string{"x"} }, "agent: allow: +x"},
		{"card", func(_ *Workflow, c *Config) { card := *c.Agent.Card; card.Env = nil; c.Agent.Card = &card }, "agent: how codex is started has changed"},
		{"idle", func(_ *Workflow, c *Config) { c.Agent.Idle = time.Minute }, "agent: idle: 30m0s → 1m0s"},
		{"gate", func(_ *Workflow, c *Config) {
			g := c.Gates["tests"]
			g.Run = Command{Shell: "make test"}
			c.Gates["tests"] = g
		}, "gate tests: go test -json ./... → make test"},
		{"env", func(_ *Workflow, c *Config) { c.Env = []string{"FOO"} }, "env: +FOO"},
		{"agree", func(_ *Workflow, c *Config) { c.Agree = AgreeAuto }, "laps: agree: person → auto"},
		{"brief", func(w *Workflow, _ *Config) { w.Phases[0].Brief += "more" }, "phase RED: brief: it has changed"},
		{"limits", func(w *Workflow, _ *Config) { w.Phases[1].Limits.Attempts = 3 }, "phase GREEN: limits: attempts: 12 → 3"},
		{"name", func(w *Workflow, _ *Config) { w.Name = "ours" }, "workflow: tdd → ours"},
	} {
		got := Differences(plan(nil), plan(c.change))
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	p, q := plan(nil), plan(nil)
	q.Workflow.Phases[0].Gates[0].Needs = []Need{NeedTasks} // of no gate that runs, and so without words
	if got := Differences(p, q); len(got) != 1 {
		t.Errorf("a difference without words: %q", got)
	}
}

func mustBuiltin(t *testing.T, name string) []byte {
	t.Helper()
	text, ok := BuiltinText(name)
	if !ok {
		t.Fatalf("no workflow %s", name)
	}
	return text
}
