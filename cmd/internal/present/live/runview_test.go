package live

import (
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

func TestViewLines(t *testing.T) {
	t.Parallel()
	noon := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	s := &session.Session{Created: session.Created{Start: "RED", Laps: true, Items: []string{"one", "two", "three"}}, Phase: "GREEN", Lap: 2,
		Terms: session.Terms{Targets: []session.TestID{"a", "b", "c"}}, CostUSD: 2.68, Status: session.StatusRunning, Visit: session.Visit{NoProgress: 1},
		Open: &session.Open{AttemptStarted: session.AttemptStarted{Phase: "GREEN", Lap: 2, Attempt: 3}}}
	plan := &workflows.Plan{Agent: workflows.Agent{Use: "claude"}, Budget: workflows.Budget{Session: workflows.Cap{USD: 20}},
		Workflow: workflows.Workflow{Phases: []workflows.Phase{{Name: "GREEN", Limits: workflows.Limits{NoProgress: 4}}}}}
	v := &viewing{began: noon, plan: plan}
	v.event(session.Event{Body: session.AttemptStarted{Phase: "GREEN", Lap: 2, Attempt: 3}}, s, noon)
	shows := func(seconds, columns int, want string) {
		t.Helper()
		var got []string
		for _, line := range v.lines(at(seconds), "Ctrl-C stops it", columns) {
			if line.Columns() > columns {
				t.Errorf("%d columns, and there are %d: %s", line.Columns(), columns, line)
			}
			got = append(got, line.String())
		}
		if text := strings.Join(got, "\n"); text != strings.Trim(want, "\n") {
			t.Errorf("it shows\n%s\nwant%s", text, want)
		}
	}
	shows(1, 60, `
│ GREEN  lap 2/3  attempt 3  3 new tests to pass        0:01
│ claude is working                                     0:01
│ $2.68 of $20.00 in all  Ctrl-C stops it
`)
	for _, e := range []agents.Event{
		{Kind: agents.Started, Model: "opus\x1b[31m-5", Version: "2.1"}, {Kind: agents.Text, Text: "I look\nat it first"},
		{Kind: agents.Usage, Spent: agents.Spent{USD: 0.42, Input: 41000, Output: 300}},
		{Kind: agents.Denial, Tool: agents.Tool{Name: "Bash", Detail: "rm -rf /"}},
		{Kind: agents.Limit, Limited: agents.Limited{Status: "warning", Window: "five_hour", Used: 0.915}},
		{Kind: agents.ToolCall, Tool: agents.Tool{Name: "Bash", Action: agents.Runs, Detail: "go test ./... -run 'Test日本語' -count=1"}},
	} {
		v.agent(e, at(10))
	}
	shows(75, 80, `
│ GREEN  lap 2/3  attempt 3  3 new tests to pass  1 of 4 without progress   1:15
│ "I look at it first"
│ claude runs go test ./... -run 'Test日本語' -count=1                      1:05
│ $0.42  $3.10 of $20.00 in all  5-hour limit 92% used  1 refused  41k tokens
`)
	shows(75, 120, `
│ GREEN  lap 2/3  attempt 3  3 new tests to pass  1 of 4 without progress                                           1:15
│ "I look at it first"
│ claude runs go test ./... -run 'Test日本語' -count=1                                                              1:05
│ $0.42  $3.10 of $20.00 in all  5-hour limit 92% used  1 refused  41k tokens  1 tool call  opus-5  Ctrl-C stops it
`)
	shows(75, 20, `
│ GREEN  lap 2/3
│ "I look at it fir…
│ claude runs go te…
│ $0.42
`)
	v.agent(agents.Event{Kind: agents.Retry, Retrying: agents.Retrying{Attempt: 2, Of: 10, Status: 529, Error: "overloaded"}}, at(80))
	shows(81, 60, `
│ GREEN  lap 2/3  attempt 3  3 new tests to pass        1:21
│ "I look at it first"
│ claude tries again (2 of 10): overloaded, HTTP 529    0:01
│ $0.42  $3.10 of $20.00 in all  5-hour limit 92% used
`)
	gates := []session.GateResult{{Gate: "tests", Expect: "pass", Passing: 2, Counts: session.Counts{Passed: 9, Failed: 1}}}
	v.event(session.Event{Body: session.Judged{Judgement: session.Judgement{Gates: gates}}}, s, at(90))
	s.Open, s.Status, s.CostUSD = nil, session.StatusWaiting, 3.10
	s.Waiting = &session.Waiting{Reason: session.WaitLimit, Until: at(3700).Unix()}
	v.event(session.Event{Body: *s.Waiting}, s, at(100))
	shows(100, 70, `
│ GREEN  lap 2/3  attempt 3  2 of 3 new tests pass                1:40
│ "I look at it first"
│ waiting for a limit until 13:01 UTC                     1:00:00 left
│ $3.10 of $20.00 in all  5-hour limit 92% used  1 refused
`)
	for columns := range 12 { // smaller than any real terminal
		for _, line := range v.lines(at(100), "x", columns) {
			if w := safetext.Width(line.String()); w > columns {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
	}
}
