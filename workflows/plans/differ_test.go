package plans

import (
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/workflows"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	w, findings := workflows.ParseWorkflow("tdd.yaml", mustBuiltin(t, "tdd"))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	config := func(text string) *workflows.Config {
		c, findings := parseConfig("config.yaml", []byte("version: 1\n"+text))
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		return c
	}
	plan := func(change func(w *workflows.Workflow, c *workflows.Config)) *workflows.Plan {
		c := config("agent: codex\ngates:\n  tests: {run: go test -json ./..., format: go-test-json}\n")
		own := *w
		own.Phases = append([]workflows.Phase{}, w.Phases...)
		if change != nil {
			change(&own, c)
		}
		p, findings := Resolve(&own, c, nil)
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		text, _ := Encode(p) // as it is read from a ledger
		back, err := Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		return back
	}
	for _, c := range []struct {
		name   string
		change func(w *workflows.Workflow, c *workflows.Config)
		want   string
	}{
		{"nothing", nil, ""},
		{"agent", func(_ *workflows.Workflow, c *workflows.Config) {
			c.Agent = workflows.Agent{Command: workflows.Command{Argv: []string{"claude", "-p"}}}
		}, "agent: codex → claude -p"},
		{"model", func(_ *workflows.Workflow, c *workflows.Config) { c.Agent.Model = "o4" }, "agent: model: none → o4"},
		{"allow", func(_ *workflows.Workflow, c *workflows.Config) { c.Agent.Allow = []string{"x"} }, "agent: allow: +x"},
		{"card", func(_ *workflows.Workflow, c *workflows.Config) {
			card := *c.Agent.Card
			card.Env = nil
			c.Agent.Card = &card
		}, "agent: how codex is started has changed"},
		{"idle", func(_ *workflows.Workflow, c *workflows.Config) { c.Agent.Idle = time.Minute }, "agent: idle: 30m0s → 1m0s"},
		{"gate", func(_ *workflows.Workflow, c *workflows.Config) {
			g := c.Gates["tests"]
			g.Run = workflows.Command{Shell: "make test"}
			c.Gates["tests"] = g
		}, "gate tests: go test -json ./... → make test"},
		{"env", func(_ *workflows.Workflow, c *workflows.Config) { c.Env = []string{"FOO"} }, "env: +FOO"},
		{"agree", func(_ *workflows.Workflow, c *workflows.Config) { c.Agree = workflows.AgreeAuto }, "laps: agree: person → auto"},
		{"brief", func(w *workflows.Workflow, _ *workflows.Config) { w.Phases[0].Brief += "more" }, "phase RED: brief: it has changed"},
		{"limits", func(w *workflows.Workflow, _ *workflows.Config) { w.Phases[1].Limits.Attempts = 3 }, "phase GREEN: limits: attempts: 12 → 3"},
		{"name", func(w *workflows.Workflow, _ *workflows.Config) { w.Name = "ours" }, "workflow: tdd → ours"},
	} {
		got := Differences(plan(nil), plan(c.change))
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	p, q := plan(nil), plan(nil)
	// of a gate that does not run, and so without a text
	q.Workflow.Phases[0].Gates[0].Needs = []workflows.Need{workflows.NeedTasks}
	if got := Differences(p, q); len(got) != 1 {
		t.Errorf("a difference without words: %q", got)
	}
}

func mustBuiltin(t *testing.T, name string) []byte {
	t.Helper()
	text, ok := workflows.BuiltinText(name)
	if !ok {
		t.Fatalf("no workflow %s", name)
	}
	return text
}
