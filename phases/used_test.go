package phases

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/session"
)

func TestUsed(t *testing.T) {
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
	add(spent(0.25, 300)) // what it has used so far, not since the last word
	add(agents.Event{Kind: agents.Text, Text: "on I go"})
	add(spent(0.01, 20)) // a second process begins from nothing
	log = append(log, `{"v":1,"at":"2030-01-02T03:09:05Z","kind":"usage","Spe`...)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if u := Used(dir); u != (session.Usage{}) {
		t.Errorf("of nothing: %+v", u)
	}
	write(ResultFile, `{"cost_usd": 0.5}`)
	if u := Used(dir); u != (session.Usage{USD: 500_000}) {
		t.Errorf("of a result file: %+v", u)
	}
	write(EventsFile, string(log))
	if u := Used(dir); u != (session.Usage{USD: 260_000, Tokens: session.Tokens{Input: 320}, Millis: 4000}) {
		t.Errorf("of events: %+v", u)
	}
}
