package running

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// slowAgent edits a file, starts a child, writes their pids, and then waits for a line in the pipe "go" in the home.
const slowAgent = `mkfifo "$HOME/go"
echo edited > work.txt
sleep 300 &
echo $! > "$HOME/child.pid"
echo $$ > "$HOME/agent.pid"
read -r line < "$HOME/go"
kill $!
`

// TestHeld runs other commands while one wfs drives a session. Commands that would write are refused at once, with
// the name of the driver; commands that read are not.
func TestHeld(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent(slowAgent)
	p.ok("wfs", "new", "other")
	p.ok("wfs", "new", "one")
	first := p.start("wfs", "run")
	p.await("agent.pid")

	pid := strconv.Itoa(first.cmd.Process.Pid)
	for _, args := range []string{"run", "run one", "checkpoint", "switch other", "switch main", "new three", "resume one", "resume --fresh", "finish", "undo", "resume other"} {
		p.exits(exitHeld, append([]string{"wfs"}, strings.Fields(args)...), "error: ", "wfs run", pid, "hint: wfs watch")
	}
	p.write(".git/index.lock", "of the agent's git")
	p.exits(exitHeld, []string{"wfs", "checkpoint"}, "this work tree is in use by `wfs run`", pid)
	p.ok("rm", ".git/index.lock")
	p.ok("git", "worktree", "add", "-q", "-b", "elsewhere", "../linked")
	p.exits(exitError, []string{"wfs", "-C", "../linked", "switch", "one"}, "one is checked out in another work tree") // it stays there
	for _, args := range []string{"resume one", "resume one@0"} {
		p.exits(exitHeld, append([]string{"wfs", "-C", "../linked"}, strings.Fields(args)...), "this work tree is in use by `wfs run`", pid)
	}
	testkit.Holds(t, p.ok("wfs"), "running in WORK")
	testkit.Holds(t, p.ok("wfs", "status"), "running in WORK", "running: wfs run (pid "+pid+")")
	testkit.Holds(t, p.ok("wfs", "status", "--json"), `"status":"running"`, `"driver":{"pid":`+pid+`,"command":"wfs run"}`)
	testkit.Holds(t, p.ok("wfs", "list"), "one", "running")
	testkit.Holds(t, p.ok("wfs", "list", "--json"), `"driver":{"pid":`+pid)
	testkit.Holds(t, p.ok("wfs", "log"), "birth")
	testkit.Holds(t, p.ok("wfs", "show"), "running in WORK")
	testkit.Holds(t, p.ok("wfs", "show", "0"), "one@0")
	p.ok("wfs", "diff")
	p.ok("wfs", "run", "--dry-run")

	p.write("../home/go", "go\n")
	if out, exit := first.wait(); exit != 0 {
		t.Fatalf("the first run: exit %d: %s", exit, out)
	}
	testkit.Holds(t, p.ok("wfs", "status"), "DONE at @")
	testkit.Holds(t, p.ok("git", "status", "--porcelain"), "")
}

// TestInterrupted stops a run with the signals that people and systems send. The agent's work is kept, none of its
// processes survives, and the next wfs run continues.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sig  syscall.Signal
		exit int
	}{{syscall.SIGINT, exitInterrupted}, {syscall.SIGTERM, exitTerminated}, {syscall.SIGQUIT, exitTerminated}} {
		t.Run(c.sig.String(), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.agent(slowAgent)
			p.ok("wfs", "new", "one")
			r := p.start("wfs", "run")
			p.await("agent.pid")
			r.signal(c.sig)
			out, exit := r.wait()
			if exit != c.exit {
				t.Fatalf("exit %d, want %d: %s", exit, c.exit, out)
			}
			testkit.Holds(t, out, "interrupted", "next: wfs run")
			p.gone(p.read("agent.pid"))
			p.gone(p.read("child.pid"))
			testkit.Holds(t, p.ok("git", "log", "-1", "--format=%B"), "interrupted", "Wfs-Trigger: interrupted")
			testkit.Holds(t, p.ok("git", "show", "HEAD:work.txt"), "edited")
			if dirty := p.ok("git", "status", "--porcelain"); dirty != "" {
				t.Errorf("git status: %s", dirty)
			}
			testkit.Holds(t, p.ok("wfs", "status"), "interrupted in WORK", "next: wfs run")
			testkit.Holds(t, p.ok("wfs", "status", "--json"), `"attempts":0`)

			p.agent("echo more > more.txt")
			testkit.Holds(t, p.ok("wfs", "run"), "DONE at @")
			testkit.Holds(t, p.ok("wfs", "status", "--json"), `"attempts":1`)
		})
	}
}

// TestSecondInterrupt kills an agent that does not end at the first signal.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent(`trap 'echo asked > "$HOME/asked"; sleep 4; echo of its own accord > "$HOME/ended"; exit' TERM
echo edited > work.txt
echo $$ > "$HOME/agent.pid"
while :; do sleep 0.02; done
`)
	p.ok("wfs", "new", "one")
	r := p.start("wfs", "run")
	p.await("agent.pid")
	r.signal(syscall.SIGINT)
	p.await("asked") // it has 5 seconds now, and would take 4
	r.signal(syscall.SIGINT)
	out, exit := r.wait()
	if exit != exitInterrupted {
		t.Fatalf("exit %d: %s", exit, out)
	}
	p.gone(p.read("agent.pid"))
	if _, err := os.Stat(filepath.Join(p.home, "ended")); err == nil {
		t.Error("the agent was left to end in its own time")
	}
	testkit.Holds(t, p.ok("git", "show", "HEAD:work.txt"), "edited")
	p.agent("echo done > done.txt")
	testkit.Holds(t, p.ok("wfs", "run"), "DONE at @")
}

// TestInterruptedGate stops a gate. The next run judges the agent's work without running the agent again.
func TestInterruptedGate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		stop func(p *place, r *running)
		exit int
		why  string
	}{
		{"ctrl-c", func(_ *place, r *running) { r.signal(syscall.SIGINT) }, exitInterrupted, "(ctrl-c)"},
		{"terminated", func(_ *place, r *running) { r.signal(syscall.SIGTERM) }, exitTerminated, "(terminated)"},
		{"stop --now", func(p *place, _ *running) {
			testkit.Holds(p.t, p.ok("wfs", "stop", "--now"), "the run has ended: interrupted in WORK", "next: wfs run")
		}, exitTerminated, "(stopped at once, on request)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, r := interruptedGate(t)
			const says = "attempt 1 at WORK has run and is not judged yet: the next wfs run judges it first, without another run"
			c.stop(p, r)
			out, exit := r.wait()
			if exit != c.exit {
				t.Fatalf("exit %d, want %d: %s", exit, c.exit, out)
			}
			testkit.Holds(t, out, c.why, says, "next: wfs run")
			p.gone(p.read("gate.pid"))
			testkit.Holds(t, p.ok("git", "show", "refs/wfs/one/auto^2:work.txt"), "edited") // it is in no checkpoint yet
			if left := p.inbox(); len(left) > 0 {
				t.Errorf("requests are still there: %v", left)
			}
			for _, look := range []string{"wfs", "wfs status"} {
				testkit.Holds(t, p.ok(strings.Fields(look)...), "interrupted in WORK", c.why, says, "next: wfs run")
			}
			testkit.Holds(t, p.ok("wfs", "status", "--json"), `"attempts":0`)
			testkit.Holds(t, p.ok("wfs", "resume"), "nothing to do") // and the attempt is not given up
			p.write("../home/gate.sh", "true\n")
			testkit.Holds(t, p.ok("wfs", "run"), "has run; the gates judge what it left", "DONE at @")
			testkit.Holds(t, p.ok("git", "show", "HEAD:work.txt"), "edited")
			testkit.Holds(t, p.ok("wfs", "status", "--json"), `"attempts":1`)
			if runs := p.read("runs"); runs != "run" {
				t.Errorf("the agent ran again: %q", runs)
			}
		})
	}
}

// TestInterruptedGateRefuted stops a gate. The next run judges the agent's claim, and the agent continues from there.
func TestInterruptedGateRefuted(t *testing.T) {
	t.Parallel()
	p, r := interruptedGate(t)
	r.signal(syscall.SIGINT)
	r.wait()
	p.write("../home/gate.sh", "test -f more.txt\n")
	p.agent("cp \"$WFS_BRIEF\" \"$HOME/brief\"; echo more > more.txt")
	testkit.Holds(t, p.ok("wfs", "run"), "has run; the gates judge what it left", "the agent said it is done; gate tests", "WORK, attempt 2", "DONE at @")
	brief := p.read("brief")
	testkit.Holds(t, brief, "WORK, attempt 1")
	if strings.Contains(brief, "cut off") {
		t.Errorf("the attempt was judged, and the brief says that it was cut off:\n%s", brief)
	}
}

// interruptedGate lets an agent work once, and returns while the gate that judges it waits.
func interruptedGate(t *testing.T) (*place, *running) {
	t.Helper()
	p := newPlace(t)
	p.write(".wfs/config.yaml", "version: 1\nworkflow: plain\nagent: sh \"$HOME/agent.sh\"\ngates:\n  tests: {run: 'sh \"$HOME/gate.sh\"'}\n")
	p.write("../home/gate.sh", "true\n")
	p.agent("echo run >> \"$HOME/runs\"; echo edited > work.txt; echo '{\"done\": true}' > \"$WFS_RESULT\"")
	p.ok("git", "commit", "-q", "-a", "-m", "a gate of its own")
	p.ok("wfs", "trust", "--yes")
	p.ok("wfs", "new", "one")
	p.write("../home/gate.sh", "echo $$ > \"$HOME/gate.pid\"\nsleep 300\n")
	r := p.start("wfs", "run")
	p.await("gate.pid")
	return p, r
}

// TestInterruptedWhileWaiting ends the wait for a limit.
func TestInterruptedWhileWaiting(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent("echo '{\"wait\": \"1h\"}' > \"$WFS_RESULT\"\n")
	p.ok("wfs", "new", "one")
	r := p.start("wfs", "run", "--json")
	r.await(`"kind":"waiting"`)
	r.signal(syscall.SIGINT)
	if out, exit := r.wait(); exit != exitInterrupted {
		t.Fatalf("exit %d: %s", exit, out)
	}
	testkit.Holds(t, p.ok("wfs", "status"), "waiting for a limit")
}

// TestOutlivedByItsAgent kills wfs before it can clean up. The next run saves the files, ends the survivors of the
// last run, and continues: a supervisor that restarts it needs no person.
func TestOutlivedByItsAgent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can find the processes of a run whose wfs is dead")
	}
	p := newPlace(t)
	p.agent(slowAgent)
	p.ok("wfs", "new", "one")
	r := p.start("wfs", "run")
	p.await("agent.pid")
	r.signal(syscall.SIGKILL)
	r.wait()
	agent, child := p.read("agent.pid"), p.read("child.pid")

	testkit.Holds(t, p.ok("wfs", "status"), "interrupted in WORK")
	p.agent("echo more > more.txt")
	p.exits(exitBlocked, []string{"wfs", "resume", "--fresh"}, agent, child, "hint: ") // a move ends no process
	testkit.Holds(t, p.ok("wfs", "status"), agent, "wfs run one ends them", "next: wfs run one")
	testkit.Holds(t, p.ok("wfs", "run"), "of the interrupted run (pid ", agent, child, "DONE at @")
	p.gone(agent)
	p.gone(child)
	testkit.Holds(t, p.ok("git", "show", "HEAD:work.txt"), "edited")
	testkit.Holds(t, p.ok("git", "log", "--format=%s"), "interrupted; found in the work tree")
}

// TestNohup checks that a run continues when its terminal is closed.
func TestNohup(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent(slowAgent)
	p.ok("wfs", "new", "one")
	r := p.start("nohup", "wfs", "run")
	p.await("agent.pid")
	r.signal(syscall.SIGHUP)
	p.write("../home/go", "go\n")
	if out, exit := r.wait(); exit != 0 {
		t.Fatalf("exit %d: %s", exit, out)
	}
	testkit.Holds(t, p.ok("wfs", "status"), "DONE at @")
}

// TestWakened lets a run in the background that waits for a limit try again at once. A run that does not wait is
// refused.
func TestWakened(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent(`if [ -e "$HOME/lifted" ]; then echo work > work.txt; cp "$WFS_BRIEF" "$HOME/brief"; else echo '{"wait": "1h"}' > "$WFS_RESULT"; fi`)
	p.ok("wfs", "new", "one")
	p.ok("wfs", "run", "--detach")
	p.until("the wait", func() bool { return strings.Contains(p.ok("wfs", "status"), "waiting for a limit") })
	testkit.Holds(t, p.ok("wfs", "status"), "wfs run one --now")
	p.write("../home/lifted", "")
	testkit.Holds(t, p.ok("wfs", "run", "one", "--now", "--note", "the limit is lifted"), "asked: `wfs run --detach` (pid ", "next: wfs watch one")
	p.until("the end", func() bool { return strings.Contains(p.ok("wfs", "status"), "DONE at @") })
	testkit.Holds(t, p.read("brief"), "the limit is lifted")

	p.agent(slowAgent)
	p.ok("wfs", "new", "two")
	r := p.start("wfs", "run")
	p.await("agent.pid")
	p.exits(exitHeld, []string{"wfs", "run", "--now"}, "two is running in WORK, and does not wait for a limit", "hint: wfs watch two")
	p.write("../home/go", "go\n")
	r.wait()
}
