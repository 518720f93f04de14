package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/process"
)

// TestLogsAreClean writes a secret in two pieces to the log of a run, and in an event.
func TestLogsAreClean(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var seen []agents.Event
	r := &Runner{Secrets: redact.New([]string{"API_TOKEN=open-sesame-for-all"}), Watch: func(e agents.Event) { seen = append(seen, e) }}
	file, err := process.NewLog(filepath.Join(dir, OutputFile), 0)
	if err != nil {
		t.Fatal(err)
	}
	log := newOutput(file, nil, r.Secrets, nil)
	for _, piece := range []string{"say open-ses", "ame-for-all", " twice\nlast open-sesame-", "for-all"} {
		if n, err := log.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, OutputFile))
	if want := "say [redacted: $API_TOKEN] twice\nlast [redacted: $API_TOKEN]"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	events, err := r.newRunLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	events.now = func() time.Time { return time.Unix(1893553445, 0) }
	events.Event(agents.Event{Kind: agents.ToolCall, Text: "open-sesame-for-all", Tool: agents.Tool{Name: "open-sesame-for-all", Detail: "login open-sesame-for-all"},
		Retrying: agents.Retrying{Error: "no open-sesame-for-all"}})
	if err := events.log.Close(); err != nil {
		t.Fatal(err)
	}
	got, err = os.ReadFile(filepath.Join(dir, EventsFile))
	if err != nil || strings.Contains(string(got), "sesame") || strings.Count(string(got), "redacted") != 4 || len(seen) != 1 || strings.Contains(seen[0].Text, "sesame") {
		t.Errorf("%s, %+v, %v", got, seen, err)
	}
}

// TestBriefIsClean has secrets in a person's text from before wfs removed them, and in a file of a checkpoint.
func TestBriefIsClean(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Secrets = redact.New([]string{"API_TOKEN=open-sesame-for-all"})
	b.req.Session.Goal = "use open-sesame-for-all, as commit 9fceb02d0ae598e95dc970b74767f19372d61af8 says"
	b.agent(t, `cat > told; printf '{"note": "open-sesame-for-all"}' > "$WFS_RESULT"; echo open-sesame-for-all >&2`)
	b.run(t)
	for dir, names := range map[string][]string{b.Root: {"told"}, b.req.RunDir: {BriefFile, ResultFile, OutputFile, EventsFile}} {
		for _, name := range names {
			got := b.read(t, dir, name)
			if strings.Contains(got, "sesame") || !strings.Contains(got, "[redacted: $API_TOKEN]") {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
	if brief := b.read(t, b.req.RunDir, BriefFile); !strings.Contains(brief, "9fceb02d0ae598e95dc970b74767f19372d61af8") {
		t.Error(brief)
	}
	for _, line := range b.lines {
		if strings.Contains(line, "sesame") {
			t.Error(line)
		}
	}
}
