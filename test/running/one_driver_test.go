package running

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// driverRounds returns the number of rounds. WFS_SWEEP=all has as many as the bar requires.
func driverRounds() int {
	if os.Getenv("WFS_SWEEP") == "all" {
		return 20
	}
	return 3
}

// gatedAgent leaves a file for each attempt, and ends when the pipe "go" gets a line.
const gatedAgent = `test -p "$HOME/go" || mkfifo "$HOME/go"
echo "$WFS_RUN_ID" >> attempts.txt
echo $$ > "$HOME/agent.pid"
read -r line < "$HOME/go"
rm "$HOME/agent.pid"
`

var saidCheckpoint = regexp.MustCompile(`(?m)^checkpoint (\d+): `)

// TestBar05OneDriver starts forty commands that write to one session at the same time. One run drives; all others come
// before it, or are refused with the pid of the driver. No announced checkpoint is lost, and the branch has no merges.
func TestBar05OneDriver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent(gatedAgent)
	rounds, won, turned, before, late := driverRounds(), 0, 0, 0, 0
	for round := range rounds {
		id := fmt.Sprintf("round-%d", round)
		p.ok("wfs", "new", id, "--from", "main")
		commands := []string{"run", "resume " + id, "switch " + id, "checkpoint -m x"}
		p.write("edited.txt", "edited\n")
		var runs, others []*running
		for n := range 40 {
			r := p.start(append([]string{"wfs"}, strings.Fields(commands[n%4])...)...)
			if n%4 == 0 {
				runs = append(runs, r)
			} else {
				others = append(others, r)
			}
		}
		turnedAway := func(r *running) bool { return strings.Contains(r.out.String(), "(pid ") }
		p.until("agent.pid", func() bool { // one run drives, until its agent gets its line
			if !slices.ContainsFunc(runs, func(r *running) bool { return !turnedAway(r) }) {
				runs = append(runs, p.start("wfs", "run")) // all came while another command had the session
				late++
			}
			return p.has("agent.pid")
		}, runs...)
		pid := p.driver(id)
		for _, r := range others {
			out, exit := r.wait()
			switch exit {
			case exitOK:
				before++
			case exitHeld:
				turned++
				testkit.Holds(t, out, "error: ", "(pid ", "hint: wfs ")
			default:
				t.Errorf("%v: exit %d: %s", r.cmd.Args, exit, out)
			}
			for _, m := range saidCheckpoint.FindAllStringSubmatch(out, -1) {
				testkit.Holds(t, p.ok("wfs", "show", id+"@"+m[1]), id+"@"+m[1])
			}
		}
		letGo := winnerLast(runs, pid)
		drove := 0
		for n, r := range runs {
			if n == letGo {
				p.write("../home/go", "go\n")
			}
			out, exit := r.wait()
			if exit == exitHeld {
				turned++
				testkit.Holds(t, out, "error: ", "(pid ", "hint: wfs ")
				continue
			}
			if drove++; exit != exitOK || fmt.Sprint(r.cmd.Process.Pid) != pid {
				t.Errorf("wfs run (pid %d, where %s drives): exit %d: %s", r.cmd.Process.Pid, pid, exit, out)
			}
		}
		if won += drove; drove != 1 {
			t.Errorf("round %d: %d runs drove", round, drove)
		}
		p.oneLine("wfs/" + id)
		if attempts := strings.Fields(p.ok("git", "show", "wfs/"+id+":attempts.txt")); len(attempts) != 1 {
			t.Errorf("the agent worked %d times: %v", len(attempts), attempts)
		}
		p.ok("git", "cat-file", "-e", "wfs/"+id+":edited.txt")
	}
	p.ok("git", "fsck", "--full", "--strict", "--no-dangling")
	t.Logf("%d rounds of 40: %d drove, %d of them late, %d came before, %d turned away", rounds, won, late, before, turned)
}

// winnerLast moves the driving run behind the runs that must be refused, and returns its index: once it ends, a late
// run would find a session without a driver.
func winnerLast(runs []*running, pid string) int {
	slices.SortStableFunc(runs, func(a, b *running) int {
		is := func(r *running) int {
			if fmt.Sprint(r.cmd.Process.Pid) == pid {
				return 1
			}
			return 0
		}
		return is(a) - is(b)
	})
	return len(runs) - 1
}

// oneLine checks that a session's branch is one line of commits from its base, and that none of its checkpoints is
// lost.
func (p *place) oneLine(branch string) {
	p.t.Helper()
	for _, line := range strings.Split(p.ok("git", "log", "--format=%h %p", "main.."+branch), "\n") {
		if len(strings.Fields(line)) > 2 {
			p.t.Errorf("a merge on %s: %s", branch, line)
		}
	}
	numbers := strings.Fields(p.ok("git", "log", "--reverse", "--format=%(trailers:key=Wfs-Checkpoint,valueonly)", "main.."+branch))
	for n, number := range numbers {
		if number != fmt.Sprintf("%04d", n) {
			p.t.Errorf("the checkpoints on %s are %v", branch, numbers)
			return
		}
	}
}

// TestBar05TwoWorktrees checks that sessions in two work trees are driven at the same time, each by one process,
// wherever the commands are typed.
func TestBar05TwoWorktrees(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../home/agent.sh", strings.ReplaceAll(gatedAgent, "$HOME/", "$HOME/$WFS_SESSION-"))
	other := *p
	turned := 0
	for round := range driverRounds() {
		mine, theirs := fmt.Sprintf("one-%d", round), fmt.Sprintf("two-%d", round)
		p.ok("wfs", "new", mine, "--from", "main")
		p.ok("wfs", "new", theirs, "--worktree", "--from", "main")
		other.dir = p.ok("wfs", "path", theirs)
		all := map[string][]*running{}
		for n := range 20 {
			at := []*place{p, &other}[n%2]
			for _, id := range []string{mine, theirs} {
				all[id] = append(all[id], at.start("wfs", "run", id))
			}
		}
		for _, id := range []string{mine, theirs} {
			p.await(id + "-agent.pid")
		}
		for _, id := range []string{mine, theirs} {
			letGo := winnerLast(all[id], p.driver(id))
			drove := 0
			for n, r := range all[id] {
				if n == letGo {
					p.write("../home/"+id+"-go", "go\n")
				}
				switch out, exit := r.wait(); exit {
				case exitOK:
					drove++
				case exitHeld:
					turned++
					testkit.Holds(t, out, "by `wfs run` (pid ", "hint: wfs watch")
				default:
					t.Errorf("wfs run %s: exit %d: %s", id, exit, out)
				}
			}
			if drove != 1 {
				t.Errorf("%d runs drove %s", drove, id)
			}
			p.oneLine("wfs/" + id)
		}
	}
	p.ok("git", "fsck", "--full", "--strict", "--no-dangling")
	t.Logf("%d rounds of 40 in two work trees: %d turned away", driverRounds(), turned)
}
