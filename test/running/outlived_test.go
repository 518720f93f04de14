//go:build linux

package running

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// outliving are agents of which a process survives when their wfs is killed: it waits for a file "end". own means
// that all survivors are proven to belong to the run.
var outliving = []struct {
	name, agent string
	own         bool
}{
	{"the agent itself", `echo $$ > "$HOME/pid"; WAIT`, true},
	{"a child in a session of its own", `setsid sh -c 'echo $$ > "$HOME/pid"; WAIT' & wait`, true},
	{"a daemon, forked twice, whose parents are gone", `(setsid sh -c '(sh "$HOME/daemon.sh" &)' &); WAIT`, true},
	{"a child that closed all descriptors", `setsid sh -c 'exec <&- >&- 2>&- 3>&-; echo $$ > "$HOME/pid"; WAIT' & wait`, true},
	{"a child with an empty environment", `setsid env -i HOME="$HOME" PATH="$PATH" sh -c 'echo $$ > "$HOME/pid"; WAIT' & wait`, false},
	{"a child that says it is of another session", `WFS_SESSION=two sh -c 'echo $$ > "$HOME/pid"; WAIT' & wait`, false},
}

const waitForEnd = `for i in $(seq 3000); do test -e "$HOME/end" && break; sleep 0.02; done`

// outlivedPlace is a place in which a run was killed and one of its processes survives.
func outlivedPlace(t *testing.T, agent string) (p *place, pid string) {
	t.Helper()
	p = newPlace(t)
	p.ok("wfs", "new", "two")
	p.ok("wfs", "switch", "main")
	p.write("../home/daemon.sh", "echo $$ > \"$HOME/pid\"; "+waitForEnd+"\n")
	p.agent("echo edited > work.txt\n" + strings.ReplaceAll(agent, "WAIT", waitForEnd) + "\n")
	p.ok("wfs", "new", "one")
	t.Cleanup(func() { _ = os.WriteFile(filepath.Join(p.home, "end"), nil, 0o600) })
	r := p.start("wfs", "run")
	p.await("pid")
	r.signal(syscall.SIGKILL)
	r.wait()
	return p, p.read("pid")
}

// TestBar07Outlived checks that the next command names all surviving processes of a killed run, by pid and command,
// and that wfs moves nothing before they have ended. The next run ends the processes that are proven to belong to the
// last run, and continues with its files; it drives nothing while other survivors are alive, and does not kill those.
func TestBar07Outlived(t *testing.T) {
	t.Parallel()
	for _, c := range outliving {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, pid := outlivedPlace(t, c.agent)
			testkit.Holds(t, p.ok("wfs", "status"), "interrupted in WORK", "still alive of its last run: ", pid+" `", "--ignore-survivors")
			testkit.Holds(t, p.ok("wfs", "status", "--json"), `"alive":[`, `"pid":`+pid)
			number, _ := strconv.Atoi(pid)
			tip := p.ok("git", "rev-parse", "HEAD")
			for _, args := range []string{"switch two", "switch main", "undo", "new three --agent true", "resume --fresh", "finish"} {
				out := p.exits(exitBlocked, append([]string{"wfs"}, strings.Fields(args)...), pid)
				if !strings.Contains(out, "kill ") {
					t.Errorf("wfs %s does not say how to end it: %s", args, out)
				}
			}
			if now := p.ok("git", "rev-parse", "HEAD"); now != tip || p.ok("git", "symbolic-ref", "HEAD") != "refs/heads/wfs/one" {
				t.Errorf("something was moved")
			}
			if c.own {
				p.agent("echo more > more.txt")
				testkit.Holds(t, p.ok("wfs", "run"), "of the interrupted run", pid, "continuing after an interruption",
					"DONE at @")
				p.gone(pid)
				testkit.Holds(t, p.ok("wfs", "log", "--events", "--json"), `"ended_survivors":[`)
				testkit.Holds(t, p.ok("git", "show", "HEAD:work.txt"), "edited")
				return
			}
			for range 2 {
				p.exits(exitBlocked, []string{"wfs", "run"}, "BLOCKED in WORK: processes are still running", pid, "next: kill ", "; wfs run")
			}
			if syscall.Kill(number, 0) != nil {
				t.Error("what is not proven to be ours was killed")
			}
			p.write("../home/end", "")
			p.gone(pid)
			p.agent("echo more > more.txt")
			p.until("the end of all of them", func() bool { return !strings.Contains(p.ok("wfs", "status"), "still alive of") })
			if out := p.ok("wfs", "edit", "one", "--goal", "another"); strings.Contains(out, "kill") || !strings.Contains(out, "next: wfs run") {
				t.Errorf("nobody is alive, and it says: %s", out)
			}
			testkit.Holds(t, p.ok("wfs", "run"), "DONE at @")
			testkit.Holds(t, p.ok("git", "show", "HEAD:work.txt"), "edited")
		})
	}
}

// TestBar07GateOutlived checks that the processes of a gate count as well.
func TestBar07GateOutlived(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(".wfs/config.yaml", "version: 1\nworkflow: plain\nagent: sh \"$HOME/agent.sh\"\ngates:\n  tests: {run: 'sh \"$HOME/gate.sh\"'}\n")
	p.write("../home/gate.sh", "true\n")
	p.agent("echo edited > work.txt")
	p.ok("git", "commit", "-q", "-a", "-m", "a gate of its own")
	p.ok("wfs", "trust", "--yes")
	p.ok("wfs", "new", "one")
	p.write("../home/gate.sh", `echo $$ > "$HOME/pid"; `+waitForEnd+"\n")
	t.Cleanup(func() { _ = os.WriteFile(filepath.Join(p.home, "end"), nil, 0o600) })
	r := p.start("wfs", "run")
	p.await("pid")
	r.signal(syscall.SIGKILL)
	r.wait()
	testkit.Holds(t, p.ok("wfs", "status"), "interrupted in WORK", "still alive of its last run: ")
	p.write("../home/gate.sh", "true\n")
	testkit.Holds(t, p.ok("wfs", "run"), "of the interrupted run", "DONE at @")
	p.gone(p.read("pid"))
}

// TestBar07IgnoreSurvivors checks that a person can declare survivors harmless. It is recorded, and the session
// continues.
func TestBar07IgnoreSurvivors(t *testing.T) {
	t.Parallel()
	p, pid := outlivedPlace(t, outliving[1].agent)
	p.agent("echo more > more.txt")
	testkit.Holds(t, p.ok("wfs", "run", "--ignore-survivors"), "DONE at @")
	testkit.Holds(t, p.ok("git", "show", "HEAD:work.txt"), "edited")
	testkit.Holds(t, p.ok("git", "log", "--format=%s"), "interrupted; found in the work tree")
	testkit.Holds(t, p.ok("wfs", "log", "--events", "--json"), `"ignored_survivors":[`, pid)
	if n, _ := strconv.Atoi(pid); syscall.Kill(n, 0) != nil {
		t.Error("it was killed")
	}
	p.ok("wfs", "switch", "two") // it belongs to a run that is not the newest any more
}

// TestBar07Verdict checks that wfs decides from locks and processes whether a run was interrupted, not from a lock
// file's content, and not from any clock.
func TestBar07Verdict(t *testing.T) {
	t.Parallel()
	dead := func(t *testing.T) (*place, string) {
		p, pid := outlivedPlace(t, outliving[0].agent)
		p.write("../home/end", "")
		p.gone(pid)
		p.until("the end of all of them", func() bool { return !strings.Contains(p.ok("wfs", "status"), "still running") })
		p.agent("echo more > more.txt")
		return p, pid
	}
	goesOn := func(t *testing.T, p *place, env ...string) {
		t.Helper()
		typed := append([]string{"env"}, env...)
		testkit.Holds(t, p.ok(append(typed, "wfs", "status")...), "interrupted in WORK", "next: wfs run")
		testkit.Holds(t, p.ok(append(typed, "wfs", "run")...), "DONE at @")
		testkit.Holds(t, p.ok("git", "show", "HEAD:work.txt"), "edited")
	}
	for name, c := range map[string]func(t *testing.T){
		"all of it is dead": func(t *testing.T) { p, _ := dead(t); goesOn(t, p) },
		"the machine was started anew, and the lock names a process that there is not": func(t *testing.T) {
			p, _ := dead(t)
			p.write(".git/wfs/sessions/one/driver.lock", `{"pid":4194303,"command":"wfs run","since":1,"session":"one"}`+"\n")
			goesOn(t, p)
		},
		"the number in the lock is another process's by now": func(t *testing.T) {
			p, _ := dead(t)
			p.write(".git/wfs/sessions/one/driver.lock", fmt.Sprintf(`{"pid":%d,"command":"wfs run","since":1,"session":"one"}`+"\n", os.Getpid()))
			goesOn(t, p)
		},
		"the lock's text is torn": func(t *testing.T) {
			p, _ := dead(t)
			p.write(".git/wfs/sessions/one/driver.lock", `{"pid":41`)
			goesOn(t, p)
		},
		"the clock is ten years ahead":  func(t *testing.T) { p, _ := dead(t); goesOn(t, p, "WFS_NOW=2036-11-21T00:00:00Z") },
		"the clock is ten years behind": func(t *testing.T) { p, _ := dead(t); goesOn(t, p, "WFS_NOW=2016-11-21T00:00:00Z") },
		"alive, and the clock is ten years ahead or behind": func(t *testing.T) {
			p, pid := outlivedPlace(t, outliving[0].agent)
			for _, now := range []string{"2036-11-21T00:00:00Z", "2016-11-21T00:00:00Z"} {
				p.exits(exitBlocked, []string{"env", "WFS_NOW=" + now, "wfs", "resume", "--fresh"}, "still running", pid)
			}
			p.agent("echo more > more.txt")
			testkit.Holds(t, p.ok("env", "WFS_NOW=2016-11-21T00:00:00Z", "wfs", "run"), "of the interrupted run", "DONE at @")
			p.gone(pid)
		},
		"driven, and the clock is ten years ahead or behind": func(t *testing.T) {
			p := newPlace(t)
			p.agent("echo $$ > \"$HOME/pid\"\n" + waitForEnd + "\n")
			p.ok("wfs", "new", "one")
			r := p.start("wfs", "run")
			p.await("pid")
			for _, now := range []string{"2036-11-21T00:00:00Z", "2016-11-21T00:00:00Z"} {
				testkit.Holds(t, p.ok("env", "WFS_NOW="+now, "wfs", "status"), "running in WORK", "running: wfs run")
				p.exits(exitHeld, []string{"env", "WFS_NOW=" + now, "wfs", "run"}, "by `wfs run` (pid ")
			}
			p.write("../home/end", "")
			if out, exit := r.wait(); exit != 0 {
				t.Errorf("exit %d: %s", exit, out)
			}
		},
		"driven, and asleep": func(t *testing.T) { // like a closed laptop, or a frozen container
			p := newPlace(t)
			p.agent("echo $$ > \"$HOME/pid\"\n" + waitForEnd + "\n")
			p.ok("wfs", "new", "one")
			r := p.start("wfs", "run")
			p.await("pid")
			r.signal(syscall.SIGSTOP)
			testkit.Holds(t, p.ok("wfs", "status"), "running in WORK", "running: wfs run")
			p.exits(exitHeld, []string{"wfs", "run"}, "by `wfs run` (pid ")
			r.signal(syscall.SIGCONT)
			p.write("../home/end", "")
			if out, exit := r.wait(); exit != 0 {
				t.Errorf("exit %d: %s", exit, out)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c(t) })
	}
}
