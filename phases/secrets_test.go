package phases

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/workflows"
)

func TestCleanLeft(t *testing.T) {
	t.Parallel()
	secrets := redact.New([]string{"API_TOKEN=open-sesame-for-all"})
	dir := t.TempDir()
	left := filepath.Join(dir, "report.xml")
	if err := cleanLeft(left, secrets); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(left, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	with, without := filepath.Join(left, "sub", "a.xml"), filepath.Join(left, "b.xml")
	for name, text := range map[string]string{with: "<a>open-sesame-for-all</a>\n", without: "<b>nothing</b>\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(with, filepath.Join(left, "link")); err != nil {
		t.Skip(err)
	}
	if err := cleanLeft(left, secrets); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{with: "<a>[redacted: $API_TOKEN]</a>\n", without: "<b>nothing</b>\n"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := os.Readlink(filepath.Join(left, "link")); err != nil {
		t.Error(err)
	}
}

// TestLogsAreClean writes a secret in two pieces to the log of a run, and in an event.
func TestLogsAreClean(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var seen []agents.Event
	r := &Runner{Secrets: redact.New([]string{"API_TOKEN=open-sesame-for-all"}), Watch: func(e agents.Event) { seen = append(seen, e) }}
	file, err := newLog(filepath.Join(dir, OutputFile), 0)
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

// TestJudgeTellsNoSecret: what a judge reports has names in it, and reasons of the system's.
func TestJudgeTellsNoSecret(t *testing.T) {
	t.Parallel()
	told := ""
	j := &GateRunner{Secrets: redact.New([]string{"API_TOKEN=open-sesame-for-all"}), Report: func(line string) { told += line }}
	j.say("gate tests again: enters with open-sesame-for-all")
	if told != "gate tests again: enters with [redacted: $API_TOKEN]" {
		t.Errorf("%q", told)
	}
}

// TestBriefIsClean has secrets in what a person wrote before wfs took them out, and in what a checkpoint's file says.
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

// TestGatesAreClean has a token and a value of the environment in what gates print, in two pieces: neither stands in a log or in
// the last lines, nor the token in a report, whose names must be the same in every environment.
func TestGatesAreClean(t *testing.T) {
	t.Parallel()
	const value, token = "open-sesame-for-all", "ghp_" + "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"
	for format, text := range map[workflows.Format]string{
		workflows.FormatExit: "use " + token + "\nand " + value,
		workflows.FormatTAP:  "not ok 1 - " + value + "\n  ---\n  error: " + token + "\n  ...\n1..1\n",
		workflows.FormatGoTest: `{"Action":"output","Package":"x","Test":"TestA/` + value + `","Output":"use ` + token + ` and ` + value + `\n"}` + "\n" +
			`{"Action":"fail","Package":"x","Test":"TestA/` + value + `"}` + "\n",
		workflows.FormatJUnit: `<testsuite><testcase classname="c" name="` + value + `"><failure>` + token + `</failure></testcase></testsuite>` + "\n" + value + "\n",
	} {
		for _, to := range []string{"1", "2"} {
			dir := t.TempDir()
			j := &GateRunner{Root: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Secrets: redact.New([]string{"API_TOKEN=" + value})}
			at := strings.Index(text, value) + 7
			g := workflows.Gate{Name: "g", Format: format, Timeout: time.Minute,
				Run: workflows.Command{Argv: []string{"sh", "-c", `printf %s "$1" >&$3; sleep 0.05; printf %s "$2" >&$3; exit 1`, "sh", text[:at], text[at:], to}}}
			run, err := j.runGate(t.Context(), g, dir, false)
			if err != nil {
				t.Fatal(err)
			}
			log, err := os.ReadFile(filepath.Join(dir, run.log))
			shown := string(log) + strings.Join(run.printed, "\n")
			if err != nil || strings.Contains(shown, value) || strings.Contains(shown, token) || strings.Count(string(log), "[redacted: ") < 2 || len(run.printed) == 0 {
				t.Errorf("%s to %s: %q, %q, %v", format, to, log, run.printed, err)
			}
			if all := fmt.Sprint(run.report.Tests, run.report.Messages, run.report.Broken); strings.Contains(all, token) {
				t.Errorf("%s to %s: %s", format, to, all)
			} else if to == "1" && format != workflows.FormatExit && !strings.Contains(all, value+":fail") {
				t.Errorf("%s has no test with its name: %s", format, all)
			}
		}
	}
}
