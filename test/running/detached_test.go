package running

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// turnAgent prints that it works, waits for a line in the pipe "go", and leaves a file for each attempt. It copies
// the notes in its brief to "told".
const turnAgent = `test -p "$HOME/go" || mkfifo "$HOME/go"
sed -n '/Added during the run/,$p' "$WFS_BRIEF" >> "$HOME/told"
echo "attempt $WFS_ATTEMPT works"
echo $$ > "$HOME/agent-$WFS_ATTEMPT.pid"
read -r line < "$HOME/go"
echo "$line" > "of-$WFS_ATTEMPT.txt"
echo "attempt $WFS_ATTEMPT is done"
`

// turnPlace is a place whose work is done when a file of-3.txt exists.
func turnPlace(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.write(".wfs/config.yaml", "version: 1\nworkflow: plain\nagent: sh \"$HOME/agent.sh\"\ngates:\n  tests: {run: \"test -f of-3.txt || test ! -f of-1.txt\"}\n")
	p.ok("git", "commit", "-q", "-a", "-m", "done with the third")
	p.ok("wfs", "trust", "--yes")
	p.agent(turnAgent)
	p.ok("wfs", "new", "one")
	return p
}

func (p *place) driver(id string) string {
	p.t.Helper()
	var s struct{ Driver *struct{ PID int } }
	if err := json.Unmarshal([]byte(p.ok("wfs", "status", id, "--json")), &s); err != nil {
		p.t.Fatal(err)
	}
	if s.Driver == nil {
		return ""
	}
	return strconv.Itoa(s.Driver.PID)
}

func (p *place) inbox() []string {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, ".git/wfs/sessions/one/inbox/*"))
	if err != nil {
		p.t.Fatal(err)
	}
	return files
}

// TestDetached plays an evening and a morning: a run in the background, two notes during the run, `watch`, and a stop.
func TestDetached(t *testing.T) {
	t.Parallel()
	p := turnPlace(t)
	testkit.Holds(t, p.ok("wfs", "run", "--detach"), "one runs in the background (pid ", "next: wfs watch one")
	p.await("agent-1.pid")
	pid := p.driver("one")
	if pid == "" {
		t.Fatal("nobody drives")
	}
	testkit.Holds(t, p.ok("wfs", "status"), "running: wfs run --detach (pid "+pid+")", "next: wfs watch one   or: wfs stop one")
	p.exits(exitHeld, []string{"wfs", "run", "--detach"}, "session one is in use by `wfs run --detach` (pid "+pid)

	watched, stream := p.start("wfs", "watch"), p.start("wfs", "watch", "--json")
	watched.await("attempt 1 works")
	stream.await("attempt 1 works")
	testkit.Holds(t, p.ok("wfs", "note", "dates are ISO 8601"), "takes it in after its present step")
	testkit.Holds(t, p.ok("wfs", "note", "and second", "one"), "takes it in after its present step")
	testkit.Holds(t, p.ok("wfs", "status"), "2 requests are not read yet")
	testkit.Holds(t, p.ok("wfs", "list", "--json"), `"requests":2`)
	p.write("../home/go", "first\n")
	p.await("agent-2.pid")
	if told := p.read("told"); strings.Count(told, "- dates are ISO 8601\n- and second") != 1 {
		t.Errorf("the second attempt was told %q", told)
	}
	if left := p.inbox(); len(left) > 0 {
		t.Errorf("requests are still there: %v", left)
	}
	watched.await("maybe not by a person: and second")
	watched.await("attempt 2 works")

	watched.signal(syscall.SIGINT)
	if out, exit := watched.wait(); exit != exitInterrupted {
		t.Errorf("watch: exit %d: %s", exit, out)
	} else {
		testkit.Holds(t, out, "no @1", "the run continues", "wfs watch one")
	}
	testkit.Holds(t, p.ok("wfs", "stop"), "asked: `wfs run --detach` (pid "+pid+") ends when attempt 2 at WORK is judged and has its checkpoint")
	p.ok("wfs", "stop") // a second request changes nothing
	again := p.start("wfs", "watch")
	again.await("watching `wfs run --detach`")
	p.write("../home/go", "second\n")
	if out, exit := again.wait(); exit != exitOK {
		t.Errorf("watch: exit %d: %s", exit, out)
	} else {
		testkit.Holds(t, out, "paused in WORK, 2 attempts so far (stopped on request)", "next: wfs run")
	}
	p.gone(pid)
	if left := p.inbox(); len(left) > 0 {
		t.Errorf("requests are still there: %v", left)
	}
	testkit.Holds(t, p.ok("wfs", "stop"), "one is not running: paused")
	testkit.Holds(t, p.ok("wfs", "watch"), "no run in progress for one", "paused in WORK", "next: wfs run")
	testkit.Holds(t, p.ok("git", "show", "HEAD:of-2.txt"), "second")
	if out, exit := stream.wait(); exit != exitOK || strings.Count(out, `"type":"end"`) != 1 {
		t.Errorf("watch --json: exit %d: %s", exit, out)
	} else {
		testkit.Holds(t, out, "dates are ISO 8601")
	}

	waiting := p.start("wfs", "watch", "--wait")
	waiting.await("no run in progress for one")
	testkit.Holds(t, p.ok("wfs", "run", "--detach", "--max-attempts", "1", "--note", "a third"), "runs in the background")
	p.await("agent-3.pid")
	p.write("../home/go", "third\n")
	if out, exit := waiting.wait(); exit != exitOK {
		t.Errorf("watch --wait: exit %d: %s", exit, out)
	} else {
		testkit.Holds(t, out, "attempt 3 works", "DONE at @")
	}
	var last int64
	for line := range strings.Lines(stream.out.String()) {
		var e struct{ Seq int64 }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("watch --json printed %q: %v", line, err)
		} else if e.Seq > 0 && last > 0 && e.Seq != last+1 {
			t.Errorf("event %d follows event %d", e.Seq, last)
		}
		last = max(last, e.Seq)
	}
}

// TestDetachedSurvives closes the terminal of a run in the background, if it has one.
func TestDetachedSurvives(t *testing.T) {
	t.Parallel()
	p := turnPlace(t)
	p.agent("echo $$ > \"$HOME/agent.pid\"\nmkfifo \"$HOME/go\"\nread -r line < \"$HOME/go\"\n")
	// A shell in its own session starts the run, and its whole process group gets SIGHUP.
	p.write("../home/shell.sh", "wfs run --detach\necho $$ > \"$HOME/shell.pid\"\nexec sleep 300\n")
	shell := p.start("setsid", "sh", filepath.Join(p.home, "shell.sh"))
	p.await("shell.pid")
	p.await("agent.pid")
	n, err := strconv.Atoi(p.read("shell.pid"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-n, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(n, syscall.SIGKILL) // under nohup, it ignores SIGHUP
	shell.wait()
	if p.driver("one") == "" {
		t.Fatal("the run in the background has ended with its terminal")
	}
	p.write("../home/go", "go\n")
	testkit.Holds(t, p.ok("wfs", "watch"), "DONE at @")
}

// TestStopNow stops a run in the background at once. The agent's work is in a checkpoint, and none of its processes
// is alive.
func TestStopNow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent(slowAgent)
	p.ok("wfs", "new", "one")
	p.ok("wfs", "run", "--detach")
	p.await("agent.pid")
	pid := p.driver("one")
	watched := p.start("wfs", "watch")
	watched.await("watching `wfs run --detach`")
	testkit.Holds(t, p.ok("wfs", "stop", "--now"), "the run has ended: interrupted in WORK", "next: wfs run")
	p.gone(pid)
	p.gone(p.read("agent.pid"))
	p.gone(p.read("child.pid"))
	testkit.Holds(t, p.ok("git", "show", "HEAD:work.txt"), "edited")
	testkit.Holds(t, p.ok("wfs", "status"), "(stopped at once, on request)")
	if out, exit := watched.wait(); exit != exitTerminated {
		t.Errorf("watch: exit %d: %s", exit, out)
	}
	if left := p.inbox(); len(left) > 0 {
		t.Errorf("requests are still there: %v", left)
	}
	p.agent("echo more > more.txt")
	testkit.Holds(t, p.ok("wfs", "run"), "DONE at @")
}

// TestDetachedKilled kills the run in the background, so that it can report nothing. The next run takes in its
// pending requests, but a stop for the killed run does not stop another one.
func TestDetachedKilled(t *testing.T) {
	t.Parallel()
	p := turnPlace(t)
	p.ok("wfs", "run", "--detach")
	p.await("agent-1.pid")
	watched := p.start("wfs", "watch")
	watched.await("attempt 1 works")
	p.ok("wfs", "note", "not yet taken in")
	p.ok("wfs", "stop")
	for _, pid := range []string{p.driver("one"), p.read("agent-1.pid")} {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		p.gone(pid)
	}
	if out, exit := watched.wait(); exit != exitInterrupted {
		t.Errorf("watch: exit %d: %s", exit, out)
	} else {
		testkit.Holds(t, out, "the process that ran it is gone")
	}
	if n := len(p.inbox()); n != 2 {
		t.Errorf("%d requests are there", n)
	}
	testkit.Holds(t, p.ok("wfs", "status"), "1 request is not read yet") // no run is left to stop
	if err := os.Remove(filepath.Join(p.home, "told")); err != nil {
		t.Fatal(err)
	}
	p.until("the end of the shell that ran the agent", func() bool {
		_, exit := p.try("wfs", "run", "--detach", "--max-attempts", "1")
		return exit == 0
	})
	p.until("the agent", func() bool { return strings.Contains(p.ok("wfs", "status", "--json"), `"driver"`) && p.told() })
	if n := len(p.inbox()); n != 0 {
		t.Errorf("%d requests are there", n)
	}
	p.write("../home/go", "go\n")
	testkit.Holds(t, p.ok("wfs", "watch"), "stopped after 1 attempt, as requested")
	if told := p.read("told"); strings.Count(told, "not yet taken in") != 1 {
		t.Errorf("told %q", told)
	}
}

func (p *place) told() bool {
	data, err := os.ReadFile(filepath.Join(p.home, "told"))
	return err == nil && strings.Contains(string(data), "not yet taken in")
}

// TestDetachedRefused checks that a run in the background that cannot drive is refused at once, with the reason.
func TestDetachedRefused(t *testing.T) {
	t.Parallel()
	p := turnPlace(t)
	p.ok("wfs", "switch", "main")
	p.exits(exitError, []string{"wfs", "run", "one", "--detach"}, "is not checked out in this work tree", "hint: wfs resume one")
	p.exits(exitError, []string{"wfs", "run", "one", "--detach", "--json"}, `"error":"`, "is not checked out")
	p.exits(exitUsage, []string{"wfs", "run", "--detach"}, "no session is current")
	p.exits(exitUsage, []string{"wfs", "watch", "--wait"}, "no session is current")
	p.exits(exitOK, []string{"wfs", "watch"}, "one  created")
	p.exits(exitUsage, []string{"wfs", "note"}, "a note needs a text")
	p.exits(exitUsage, []string{"wfs", "note", "x", "nope"}, `no session "nope"`)
}

// TestNoteAnswers answers a session's question by a note.
func TestNoteAnswers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent(`grep -q 'tabs it is' "$WFS_BRIEF" && exit 0
echo '{"ask": "tabs or spaces?"}' > "$WFS_RESULT"
`)
	p.ok("wfs", "new", "one")
	p.exits(exitDecision, []string{"wfs", "run"}, "waiting for you: tabs or spaces?")
	p.exits(exitDecision, []string{"wfs", "run"}, "waiting for you")
	testkit.Holds(t, p.ok("wfs", "note", "tabs it is"), "noted for the next attempt of one", "next: wfs run")
	testkit.Holds(t, p.ok("wfs", "status"), "paused in WORK (answered)")
	testkit.Holds(t, p.ok("wfs", "run"), "DONE at @")
}

// TestStopWhileWaiting ends the wait for a limit; the next run waits for the same limit.
func TestStopWhileWaiting(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent("echo '{\"wait\": \"1h\"}' > \"$WFS_RESULT\"\n")
	p.ok("wfs", "new", "one")
	p.ok("wfs", "run", "--detach")
	p.until("the limit", func() bool { return strings.Contains(p.ok("wfs", "status"), "waiting for a limit") })
	p.ok("wfs", "note", "heard while waiting")
	p.until("the note", func() bool { return len(p.inbox()) == 0 })
	testkit.Holds(t, p.ok("wfs", "stop"), "ends at its next step")
	p.until("the end", func() bool { return p.driver("one") == "" })
	testkit.Holds(t, p.ok("wfs", "status"), "paused in WORK (stopped on request)")
	p.exits(exitWaiting, []string{"wfs", "run", "--no-wait"}, "waiting for a limit")
}

// TestStoppedMeanwhile freezes wfs and its agent, as a container is frozen, for longer than the agent may be silent.
func TestStoppedMeanwhile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(".wfs/config.yaml", "version: 1\nworkflow: plain\nagent: {command: sh \"$HOME/agent.sh\", idle: 1s}\ngates:\n  tests: {run: \"true\"}\n")
	p.ok("git", "commit", "-q", "-a", "-m", "impatient")
	p.ok("wfs", "trust", "--yes")
	p.agent("echo $$ > \"$HOME/agent.pid\"\nwhile ! test -e \"$HOME/end\"; do echo alive; sleep 0.1; done\n")
	p.ok("wfs", "new", "one")
	r := p.start("wfs", "run")
	r.await("alive")
	agent, err := strconv.Atoi(p.read("agent.pid"))
	if err != nil {
		t.Fatal(err)
	}
	group, err := syscall.Getpgid(agent)
	if err != nil {
		t.Fatal(err)
	}
	freeze := func(sig syscall.Signal) {
		r.signal(sig)
		if err := syscall.Kill(-group, sig); err != nil {
			t.Fatal(err)
		}
	}
	freeze(syscall.SIGSTOP)
	time.Sleep(1500 * time.Millisecond) // longer than the agent may be silent
	heard := strings.Count(r.out.String(), "alive")
	freeze(syscall.SIGCONT)
	p.until("more from the agent", func() bool { return strings.Count(r.out.String(), "alive") > heard+2 })
	p.write("../home/end", "")
	if out, exit := r.wait(); exit != 0 || strings.Contains(out, "no activity for") {
		t.Errorf("exit %d: %s", exit, out)
	}
}

// TestStartsAtOnce starts many sessions at the same moment: none meets the process of another one.
func TestStartsAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent("echo work > work.txt\n")
	var all []*running
	for i := range 12 {
		all = append(all, p.start("wfs", "start", fmt.Sprint("goal ", i), "--worktree", "--detach"))
	}
	for _, r := range all {
		if out, exit := r.wait(); exit != 0 {
			t.Errorf("exit %d: %s", exit, out)
		}
	}
	for i := range 12 {
		_, _ = p.try("wfs", "watch", fmt.Sprint("goal-", i)) // until its run has ended
	}
	if list := p.ok("wfs", "list"); strings.Count(list, "completed") != 12 {
		t.Errorf("12 sessions, and\n%s", list)
	}
}
