package workflows

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The reference must stay true: it checks every complete file in it, and looks up every default and gate.
func TestReference(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.ReplaceAll(string(data), "\r\n", "\n")
	configs, flows, cards := 0, 0, 0
	for _, part := range strings.Split(doc, "```yaml\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		var findings []Finding
		switch {
		case !strings.HasPrefix(text, "version:"):
			continue
		case strings.Contains(text, "\nphases:"):
			_, findings = ParseWorkflow("workflow", []byte(text))
			flows++
		case strings.Contains(text, "\ncommand: ["):
			_, findings = ParseCard("aider.yaml", []byte(text))
			cards++
		default:
			source := FromRepository
			if strings.Contains(text, "\non-event:") { // a user's own
				source = FromUser
			}
			_, findings = ReadLayers(Layer{Source: source, Name: "config", Text: []byte(text)})
			configs++
		}
		if len(findings) > 0 {
			t.Errorf("%v in\n%s", findings, text)
		}
	}
	if configs != 3 || flows != 1 || cards != 1 {
		t.Errorf("%d configurations, %d workflows, %d cards", configs, flows, cards)
	}

	gates := 0
	for line := range strings.Lines(doc) {
		_, gate, ok := strings.Cut(line, "| `{run: ")
		if !ok {
			continue
		}
		gates++
		gate, _, _ = strings.Cut(gate, "` |")
		if _, findings := ParseConfig("gate", []byte("version: 1\ngates:\n  tests: {run: "+gate+"\n")); len(findings) > 0 {
			t.Errorf("%v in %s", findings, line)
		}
	}
	if gates != 10 {
		t.Errorf("%d gates", gates)
	}

	for _, f := range Formats() {
		if !strings.Contains(doc, "\n| `"+string(f)+"` | ") {
			t.Errorf("the reference does not describe format %s", f)
		}
	}
	for key, want := range map[string]string{
		"agent.idle":          shortDuration(DefaultAgentIdle),
		"agent.timeout":       shortDuration(DefaultAgentTimeout),
		"timeout":             shortDuration(DefaultGateTimeout),
		"laps.max":            fmt.Sprint(DefaultMaxLaps),
		"limits.attempts":     fmt.Sprint(DefaultLimits.Attempts),
		"limits.no-progress":  fmt.Sprint(DefaultLimits.NoProgress),
		"limits.same-failure": fmt.Sprint(DefaultLimits.SameFailure),
		"limits.failed-runs":  fmt.Sprint(DefaultLimits.FailedRuns),
	} {
		if row := fmt.Sprintf("\n| `%s` | `%s` |", key, want); !strings.Contains(doc, row) {
			t.Errorf("the reference does not say %s", row)
		}
	}
}
