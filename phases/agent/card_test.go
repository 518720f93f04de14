package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// card sets an agent with a card whose program is a shell script.
func (b *bench) card(t *testing.T, script string) *workflows.Card {
	t.Helper()
	b.agent(t, script)
	c := &workflows.Card{Name: "zoo", Command: []string{"sh", "-c", script, "zoo"}, Prompt: workflows.PromptStdin, Decoder: "text",
		New: []string{"--session-id", "{id}"}, Resume: []string{"--resume", "{id}"}, Model: []string{"--model", "{model}"},
		Allow: []string{"--allow", "{tools}"}, Budget: []string{"--budget", "{usd}"}, Turns: []string{"--max-turns", "{turns}"}}
	b.req.Plan.Agent = workflows.Agent{Card: c, Use: c.Name}
	return c
}

func TestCardCommand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.card(t, `printf '%s\n' "$@" > args; cat > stdin; env | sort > env; echo working; echo 'WFS_RESULT: {"done": true}'`)
	c.Env, c.Set = []string{"SECRET"}, map[string]string{"QUIET": "1"}
	b.req.Plan.Agent.Model, b.req.Plan.Agent.Allow, b.req.Plan.Agent.Args = "m1", []string{"Bash(go test:*)", "Edit"}, []string{"--more"}
	b.req.LeftUSD, b.req.LeftTurns = 0.25, 7
	res := b.run(t)
	if res.Outcome != session.OutcomeOK || !res.Done || res.Agent != "zoo" {
		t.Fatalf("%+v", res)
	}
	id := conversationID(b.req.Started.RunID, 1)
	want := "--model|m1|--allow|Bash(go test:*)|Edit|--budget|0.25|--max-turns|7|--more|--session-id|" + id + "|"
	if got := strings.ReplaceAll(b.read(t, b.Root, "args"), "\n", "|"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if in := b.read(t, b.Root, "stdin"); in != b.read(t, b.req.RunDir, BriefFile) || !strings.Contains(in, "A calculator.") {
		t.Errorf("stdin: %q", in)
	}
	env := "\n" + b.read(t, b.Root, "env")
	for _, want := range []string{"SECRET=s3cret", "QUIET=1", "WFS_PHASE=GREEN"} {
		if !strings.Contains(env, "\n"+want+"\n") {
			t.Errorf("%s is missing in%s", want, env)
		}
	}
	c.Prompt = workflows.PromptArgument
	b.run(t)
	if got := b.read(t, b.Root, "args"); !strings.HasSuffix(got, b.read(t, b.req.RunDir, BriefFile)+"\n") || b.read(t, b.Root, "stdin") != "" {
		t.Errorf("the prompt as an argument: %q", got)
	}
}

func TestConversationGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.card(t, `printf '%s ' "$@" > args`)
	b.Prober = &Prober{Environ: b.Environ}
	args := func() string { b.run(t); return b.read(t, b.Root, "args") }
	b.req.Conversation = &session.Conversation{ID: "c1", Agent: "zoo", Place: b.place()}
	if got := args(); got != "--resume c1 " {
		t.Errorf("%q", got)
	}
	for name, change := range map[string]func(*session.RunRequest){
		"another directory": func(r *session.RunRequest) { r.Conversation.Place = "x" },
		"another agent":     func(r *session.RunRequest) { r.Conversation.Agent = "x" },
		"always fresh":      func(r *session.RunRequest) { r.Plan.Agent.Fresh = true },
		"another version": func(r *session.RunRequest) {
			r.Conversation.Version = "2.0.9"
			card := *c
			card.Probe = []string{"echo", "2.1.3"}
			r.Plan.Agent.Card = &card
		},
		"no way to resume": func(r *session.RunRequest) {
			r.Plan.Agent.Card = &workflows.Card{Name: "zoo", Command: c.Command, Decoder: "text", New: c.New}
		},
	} {
		before := b.req
		b.req.Conversation = &session.Conversation{ID: "c1", Agent: "zoo", Place: b.place()}
		change(&b.req)
		if got := args(); !strings.HasPrefix(got, "--session-id ") {
			t.Errorf("%s: %q", name, got)
		}
		b.req = before
	}
}

func TestVersionFamilies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{{"2.1.197", "2.1.329", true}, {"2.1.197", "2.2.0", false}, {"", "1", true}, {"3", "3", true}, {"0.9", "0.9.1", true}} {
		if sameFamily(c.a, c.b) != c.same {
			t.Errorf("%q and %q", c.a, c.b)
		}
	}
}

func TestCardNotStarted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.card(t, "true")
	c.Command = []string{"no-such-agent-of-wfs"}
	if res := b.run(t); res.Outcome != session.OutcomeNotStarted || res.Note == "" || res.Agent != "zoo" {
		t.Errorf("%+v", res)
	}
	c.Decoder = "no-such-decoder"
	if res := b.run(t); res.Outcome != session.OutcomeNotStarted || !strings.Contains(res.Note, "no-such-decoder") {
		t.Errorf("%+v", res)
	}
}

func TestCardStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.card(t, `trap 'echo bye; exit 0' INT; trap 'echo term' TERM; echo on; while :; do sleep 0.02; done`).Interrupt = true
	ctx, cancel := context.WithCancel(t.Context())
	b.Watch = func(e agents.Event) { cancel() }
	res, err := b.Run(ctx, b.req)
	if err != nil || res.Outcome != session.OutcomeInterrupted || res.Exit != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if log := b.read(t, b.req.RunDir, OutputFile); !strings.Contains(log, "on\nbye\n") || strings.Contains(log, "term") {
		t.Errorf("%q", log)
	}
}

// TestWaitsTooLongByItself: an agent that reports a limit only on standard error, and waits for hours, is stopped at
// once. A short wait is left to the agent.
func TestWaitsTooLongByItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.card(t, `echo '{"type":"init","session_id":"s1"}'; echo 'Attempt 1 failed: You have exhausted your capacity on this model. Your quota will reset after 2h0m0s.. Retrying after 7300000ms...' >&2; exec sleep 60`)
	c.Decoder = "gemini"
	res := b.run(t)
	if res.Outcome != session.OutcomeLimit || res.WaitUntil != noon.Add(7300*time.Second).Unix() || res.Conversation != "s1" || !strings.Contains(res.Message, "exhausted your capacity") {
		t.Errorf("%+v", res)
	}
	c.Command[2] = `echo '{"type":"init"}'; echo 'Attempt 1 failed: You have exhausted your capacity on this model.. Retrying after 3000ms...' >&2; echo '{"type":"message","content":"on"}'; echo '{"type":"result","status":"success"}'`
	if res := b.run(t); res.Outcome != session.OutcomeOK {
		t.Errorf("%+v", res)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return noon }
	yes := answer{done: true}
	for _, c := range []struct {
		name       string
		structured string
		last       string
		file, want answer
	}{
		{name: "nothing is not done"},
		{name: "structured", structured: `{"done":true,"note":"n"}`, last: `WFS_RESULT: {"done": false}`, want: answer{done: true, note: "n"}},
		{name: "file", file: yes, last: `WFS_RESULT: {"done": false}`, want: yes},
		{name: "line", last: "All is well.\nWFS_RESULT: {\"done\": true}\n", want: yes},
		{name: "in Markdown", last: "**WFS_RESULT:** `{\"done\": true}`", want: yes},
		{name: "the form as last words", last: " {\"done\":true,\"ask\":\"\",\"note\":\"n\"}\n", want: answer{done: true, note: "n"}},
		{name: "other JSON", last: `{"list":["done"]}`},
		{name: "ask", last: `WFS_RESULT: {"ask": "tabs?"}`, want: answer{ask: "tabs?"}},
		{name: "words", last: "I am done. done: true"},
		{name: "broken", last: "WFS_RESULT: {\"done\": yes}", want: unreadable(errors.New("it is not a JSON object: invalid character 'y' looking for beginning of value"))},
		{name: "the last one counts", last: "WFS_RESULT: {\"done\": true}\nno\nWFS_RESULT: {\"done\": false}", want: answer{not: true}},
	} {
		o := agents.Outcome{Last: c.last}
		if c.structured != "" {
			o.Structured = json.RawMessage(c.structured)
		}
		if got := claimOf(o, c.file, now); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestAnswerSchemaIsTheResultFile(t *testing.T) {
	t.Parallel()
	all, _ := json.Marshal(resultFile{Done: new(bool)})
	for _, k := range brief.AnswerKeys {
		if !strings.Contains(string(all), `"`+k.Name+`"`) {
			t.Errorf("a result file has no %q", k.Name)
		}
	}
}

// TestOutcomesOfClasses: every class has an outcome that the engine knows.
func TestOutcomesOfClasses(t *testing.T) {
	t.Parallel()
	formats, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []agents.Class{agents.OK, agents.Denied, agents.Capped, agents.LimitHit, agents.RateLimited, agents.Overloaded,
		agents.Auth, agents.Billing, agents.Config, agents.TooLong, agents.Lost, agents.Refused, agents.Interrupted, agents.Crashed, agents.NoResult} {
		if o := outcomeOf(c); !strings.Contains(string(formats), fmt.Sprintf("`%s`", o)) {
			t.Errorf("%s becomes %s", c, o)
		}
	}
}

// TestToolUse: the recorded calls of a run, by tool. Names come from the agent, so they are cleaned, and rows are few.
func TestToolUse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Secrets = redact.New([]string{"API_TOKEN=open-sesame-for-all"})
	stream := func(name string) []session.ToolUse {
		t.Helper()
		path, err := filepath.Abs("../../internal/agents/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		b.card(t, "cat '"+path+"'").Decoder, _, _ = strings.Cut(name, "-")
		return b.run(t).ToolUse
	}
	for name, want := range map[string]string{
		"claude-2.1.329/ok-with-denial.jsonl": "[{Bash 1 1} {Edit 1 0} {Write 1 0}]",
		"claude-2.1.329/refusal.jsonl":        "[]",
	} {
		if got := fmt.Sprint(stream(name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	calls := func(names ...string) []session.ToolUse {
		t.Helper()
		var lines strings.Builder
		for i, name := range names {
			word, err := json.Marshal(name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&lines, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t%d","name":%s}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%[1]d","is_error":%[3]t}]}}
`, i, word, i%2 == 0)
		}
		if err := os.WriteFile(filepath.Join(b.Root, "stream"), []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		b.card(t, "cat stream").Decoder = "claude"
		return b.run(t).ToolUse
	}
	long := strings.Repeat("x", 50)
	got := fmt.Sprint(calls("Bash", "Ba\u001b[31msh\u202e", "Bash", "others", long+"1", long+"2", "",
		"open-sesame-for-all"))
	want := "[{Bash 3 2} {" + long[:39] + "… 2 1} {[redacted: $API_TOKEN] 1 0} {others 2 1}]"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf("tool-%03d", i/2)
	}
	list := calls(many...)
	if len(list) != 21 || list[0] != (session.ToolUse{Name: "tool-000", Calls: 2, Failed: 1}) ||
		list[20] != (session.ToolUse{Name: "others", Calls: 960, Failed: 480}) {
		t.Errorf("%+v", list)
	}
}
