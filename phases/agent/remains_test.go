package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

func TestLeft(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	var log []byte
	add := func(e agents.Event) {
		log = append(log, agents.EncodeRecord(at, e)...)
		at = at.Add(time.Second)
	}
	spent := func(usd float64, n int64) agents.Event {
		return agents.Event{Kind: agents.Usage, Spent: agents.Spent{USD: usd, Input: n}}
	}
	add(agents.Event{Kind: agents.Started})
	add(spent(0.1, 100))
	add(spent(0.25, 300)) // the total so far, not the increase
	add(agents.Event{Kind: agents.Text, Text: "on I go"})
	add(spent(0.01, 20)) // a second process counts from zero
	log = append(log, `{"v":1,"at":"2030-01-02T03:09:05Z","kind":"usage","Spe`...)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if u := Left(dir).Usage; u != (cost.Usage{}) {
		t.Errorf("of nothing: %+v", u)
	}
	write(ResultFile, `{"cost_usd": 0.5}`)
	if u := Left(dir).Usage; u != (cost.Usage{USD: 500_000}) {
		t.Errorf("of a result file: %+v", u)
	}
	write(EventsFile, string(log))
	if u := Left(dir).Usage; u != (cost.Usage{USD: 260_000, Tokens: cost.Tokens{Input: 320}, Millis: 4000}) {
		t.Errorf("of events: %+v", u)
	}
	begun := time.Now()
	for name, after := range map[string]time.Duration{BriefFile: 0, OutputFile: time.Hour, EventsFile: time.Minute} { // a command has no events
		if name != EventsFile {
			write(name, "x")
		}
		if err := os.Chtimes(filepath.Join(dir, name), begun.Add(after), begun.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	if u := Left(dir).Usage; u.Millis != time.Hour.Milliseconds() {
		t.Errorf("of a run that printed for an hour: %+v", u)
	}
	if c := Left(dir).Conversation; c != nil {
		t.Errorf("a conversation without an id: %+v", c)
	}

	log = nil
	add(agents.Event{Kind: agents.Started, Conversation: "lost", Version: "1.2"})
	add(agents.Event{Kind: agents.Result, Failed: true})
	add(agents.Event{Kind: agents.Started, Conversation: "c1", Version: "1.2"})
	write(EventsFile, string(log))
	write(AgentFile, `{"agent":"claude","place":"here"}`)
	if c := Left(dir).Conversation; c != nil {
		t.Errorf("nothing was done in it: %+v", c)
	}
	add(agents.Event{Kind: agents.ToolCall})
	write(EventsFile, string(log))
	if c, want := Left(dir).Conversation, (session.Conversation{ID: "c1", Agent: "claude", Version: "1.2", Place: "here", Ended: session.OutcomeInterrupted}); c == nil || *c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	write(AgentFile, `{"agent":`)
	if c := Left(dir).Conversation; c != nil {
		t.Errorf("of nobody knows whom: %+v", c)
	}
}
