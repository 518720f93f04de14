package agent

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/redact"
)

// TestWatch: a run's output is stored as events and passed to the watcher only, in the same order.
func TestWatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Environ = append(b.Environ, "API_TOKEN=hunter2-hunter3-hunter4")
	b.Secrets = redact.New(b.Environ)
	b.req.Plan.Env = []string{"API_TOKEN"}
	var told []agents.Event
	b.Watch = func(e agents.Event) { told = append(told, e) }
	b.agent(t, `echo one; echo "token $API_TOKEN"; printf '\033[31mtwo\n' >&2; printf three`)
	b.run(t)
	var kept []agents.Event
	for line := range bytes.Lines([]byte(b.read(t, b.req.RunDir, EventsFile))) {
		r, ok := agents.DecodeRecord(line)
		if !ok || !r.At.Equal(noon) {
			t.Fatalf("%q: %+v", line, r)
		}
		kept = append(kept, r.Event)
	}
	want := "[{text one} {text token [redacted: $API_TOKEN]} {text two} {text three}]"
	for name, list := range map[string][]agents.Event{"told": told, "kept": kept} {
		var got []struct{ Kind, Text string }
		for _, e := range list {
			got = append(got, struct{ Kind, Text string }{string(e.Kind), e.Text})
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", name, got, want)
		}
	}
	if len(b.lines) > 0 {
		t.Errorf("reported too: %q", b.lines)
	}
}
