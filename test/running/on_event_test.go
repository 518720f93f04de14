package running

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// onEventPlace is a place whose on-event command is the script event.sh in the home.
func onEventPlace(t *testing.T, script string) *place {
	t.Helper()
	p := newPlace(t)
	p.write(".wfs/config.yaml", "version: 1\nworkflow: plain\nagent: sh \"$HOME/agent.sh\"\ngates:\n  tests: {run: \"test ! -f broken\"}\n")
	p.write(".wfs/local.yaml", "version: 1\non-event: sh \"$HOME/event.sh\"\n")
	p.write("../home/event.sh", script)
	p.exits(exitDecision, []string{"wfs", "trust"}, `on-event: sh "$HOME/event.sh"`)
	p.ok("wfs", "trust", "--yes")
	return p
}

// tells records the input of the command for each event.
const tells = `cat > "$HOME/told.json"
echo "$WFS_EVENT $WFS_SESSION $WFS_STATUS $WFS_SUMMARY" >> "$HOME/told"
env > "$HOME/env"
`

// TestOnEvent notifies a person of events: a question, a limit, a breaker, the end.
func TestOnEvent(t *testing.T) {
	t.Parallel()
	p := onEventPlace(t, tells)
	p.env = append(p.env, "SECRET_TOKEN=x", "DISPLAY=:7")
	p.agent(`echo '{"ask": "tabs or spaces?"}' > "$WFS_RESULT"`)
	p.ok("wfs", "new", "one")
	p.exits(exitDecision, []string{"wfs", "run"})
	p.agent(`echo '{"wait": "1h"}' > "$WFS_RESULT"`)
	p.exits(exitWaiting, []string{"wfs", "run", "--note", "tabs", "--no-wait"})
	p.ok("wfs", "new", "two", "--agent", "exit 3")
	p.exits(exitBlocked, []string{"wfs", "run"})
	p.ok("wfs", "new", "three", "--agent", "echo done > done.txt")
	p.ok("wfs", "run")
	told := strings.Split(p.read("told"), "\n")
	want := []string{
		"needs_person one waiting one waiting in WORK; waiting for you: tabs or spaces?",
		"waiting one waiting one waiting in WORK",
		"blocked two blocked two blocked in WORK; blocked, the agent keeps failing: 3 runs in a row failed",
		"completed three completed three completed: all that was requested is done",
	}
	if len(told) != len(want) {
		t.Fatalf("told %q", told)
	}
	for i := range want {
		if !strings.HasPrefix(told[i], want[i]) {
			t.Errorf("told %q, want %q", told[i], want[i])
		}
	}
	var j struct {
		Event   string
		Session struct {
			ID     string
			Driver any
			Next   []string
		}
	}
	if err := json.Unmarshal([]byte(p.read("told.json")), &j); err != nil || j.Event != "completed" || j.Session.ID != "three" || j.Session.Driver != nil {
		t.Errorf("%v: %+v", err, j)
	}
	if len(j.Session.Next) == 0 || j.Session.Next[0] != "wfs diff three" {
		t.Errorf("next: %q", j.Session.Next)
	}
	env := p.read("env")
	testkit.Holds(t, env, "DISPLAY=:7")
	if strings.Contains(env, "SECRET_TOKEN") {
		t.Error("it was given every variable")
	}
}

// TestOnEventFails checks that a failing command has no effect except one warning.
func TestOnEventFails(t *testing.T) {
	t.Parallel()
	p := onEventPlace(t, "echo no such screen >&2; exit 9\n")
	p.agent(`echo '{"wait_until": "2000-01-01T00:00:00Z"}' > "$WFS_RESULT"; test -f "$HOME/second" && rm "$WFS_RESULT"; touch "$HOME/second"`)
	p.ok("wfs", "new", "one")
	out := p.ok("wfs", "run")
	testkit.Holds(t, out, "DONE at @", "warning: on-event: exit 9: no such screen")
	if n := strings.Count(out, "on-event"); n != 1 {
		t.Errorf("%d warnings: %s", n, out)
	}
}

// TestOnEventHangs checks that wfs releases the session while the command still hangs, and then ends the command.
func TestOnEventHangs(t *testing.T) {
	t.Parallel()
	p := onEventPlace(t, "echo $$ > \"$HOME/event.pid\"\nsleep 300\n")
	p.agent("echo done > done.txt")
	p.ok("wfs", "new", "one")
	r := p.start("wfs", "run")
	r.await("DONE at @")
	p.await("event.pid")
	p.until("the end of the driving", func() bool { return p.driver("one") == "" })
	out, exit := r.wait()
	if exit != exitOK {
		t.Fatalf("exit %d: %s", exit, out)
	}
	testkit.Holds(t, out, "warning: on-event: ")
	p.gone(p.read("event.pid"))
}

// TestOnEventUntrusted checks that commands in files below .wfs/ do not run if the files changed and are not trusted.
func TestOnEventUntrusted(t *testing.T) {
	t.Parallel()
	p := onEventPlace(t, tells)
	p.agent(`sed -i.bak 's/event.sh/evil.sh/' .wfs/local.yaml && rm .wfs/local.yaml.bak
echo 'touch "$HOME/evil"' > "$HOME/evil.sh"
`)
	p.ok("wfs", "new", "one")
	testkit.Holds(t, p.ok("wfs", "run"), "DONE at @", "warning: on-event: files below .wfs/ name commands to run")
	for _, name := range []string{"evil", "told"} {
		if _, err := os.Stat(filepath.Join(p.home, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

// TestOnEventOwn checks that the command in the user's own configuration runs even if the files below .wfs/ are
// untrusted.
func TestOnEventOwn(t *testing.T) {
	t.Parallel()
	p := onEventPlace(t, tells)
	own := filepath.Join(p.home, "config", "wfs", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(own), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("version: 1\non-event: touch \"$HOME/own\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p.agent("echo 'on-event: touch \"$HOME/evil\"' >> .wfs/config.yaml\n")
	p.ok("wfs", "new", "one")
	p.ok("wfs", "run")
	if _, err := os.Stat(filepath.Join(p.home, "own")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"evil", "told"} {
		if _, err := os.Stat(filepath.Join(p.home, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}
