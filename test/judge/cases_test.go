package judge

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestCases runs each case below the directory WFS_CASES, and reports the outcomes. WFS_CASES_RUN is a regular
// expression that selects among RUNNER/NAME; WFS_CASES_OUT names a file for the table, separated by tabs.
func TestCases(t *testing.T) {
	dir := os.Getenv("WFS_CASES")
	if dir == "" {
		t.Skip("SKIPPED: WFS_CASES names no directory of cases")
	}
	all, err := readCases(dir)
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := regexp.Compile(os.Getenv("WFS_CASES_RUN"))
	if err != nil {
		t.Fatal(err)
	}
	table := &caseTable{}
	t.Cleanup(func() { table.print(t) })
	two := make(chan bool, 2) // at the same time: test runners use the whole machine
	for _, c := range all {
		if !chosen.MatchString(c.String()) {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			if c.err != nil {
				t.Fatal(c.err)
			}
			two <- true
			defer func() { <-two }()
			r := &caseResult{caseFile: c, outcome: "not begun"}
			began := time.Now()
			defer func() {
				r.took = time.Since(began)
				table.add(t, r)
			}()
			r.works(t)
			if want := c.keys["want"]; want != "" && want != r.outcome && !(want == "caught" && r.caught()) {
				t.Errorf("it is %s, want %s\n%s", r.outcome, want, r.said)
			}
		})
	}
}

// caseResult is the outcome of a case.
type caseResult struct {
	*caseFile
	outcome   string      // completed, asked, blocked; "not begun" when there is no session
	then      string      // the outcome after the questions were answered
	status    string      // of the session, as wfs prints it
	last      caseAttempt // the newest one
	refused   caseAttempt // the first one that failed: later ones may fail for other reasons
	attempts  int
	failed    int
	questions int
	outside   string // "yes" or "no" by outside.sh, "" when it did not run
	took      time.Duration
	greens    []triedLap // the laps in which an attempt at GREEN was tried by experiments
	said      string     // the whole output of wfs run
}

// caseAttempt is the verdict on an attempt.
type caseAttempt struct{ phase, verdict, class, reason string }

func (r *caseResult) caught() bool { return r.outcome == "asked" || r.outcome == "blocked" }

// triedLap has the experiments with an attempt at GREEN.
type triedLap struct {
	Gates       []struct{ Millis int64 }
	Experiments []struct {
		Kind, Result string
		Runs         int
		Millis       int64
	}
}

// works runs the agent of a case.
func (r *caseResult) works(t *testing.T) {
	t.Helper()
	top := testkit.Temp(t, testkit.Memory())
	f := &testkit.Repo{T: t, Dir: filepath.Join(top, "repo"), Env: caseEnv(t, filepath.Join(top, "home"))}
	r.install.copyTo(t, f.Dir)
	writeProject(t, f.Dir, r.project)
	testkit.WriteAll(t, filepath.Join(top, "scripts"), r.scripts)
	testkit.WriteAll(t, top, map[string]string{"SPEC.md": r.spec, "agent.sh": caseAgent})
	f.OK("git", "init", "-q")
	f.OK("git", "add", "-A")
	f.OK("git", "commit", "-q", "-m", "base")
	f.OK("wfs", "init", "--yes")
	f.OK("git", "add", ".wfs")
	f.OK("git", "commit", "-q", "-m", "how wfs judges this project")
	f.OK("wfs", "new", "s", "--spec", "../SPEC.md", "--agent", "sh ../agent.sh", "--yes")
	r.runs(f)
	r.outcome = r.came(f)
	if r.outcome == "asked" {
		r.questions = 1
		if r.honest() {
			r.answered(f)
		}
	}
	if r.outcome == "completed" || r.then == "completed" {
		r.asksOutside(t, f, top)
	}
}

func (r *caseResult) runs(f *testkit.Repo) {
	f.T.Helper()
	const most = "300" // seconds
	// Enough for one attempt at each phase of each lap, and two more.
	attempts := strconv.Itoa(3*r.laps() + 2)
	out, exit := f.Try("timeout", "-s", "INT", "-k", "20", most, "wfs", "run", "--no-wait", "--max-attempts", attempts)
	if exit == 124 || exit == 137 {
		out += "stopped after " + most + " s\n"
	}
	r.said += out
}

// answered approves the questions of an honest agent's session, and lets it continue.
func (r *caseResult) answered(f *testkit.Repo) {
	f.T.Helper()
	for r.then = "asked"; r.then == "asked" && r.questions <= 3; {
		out, _ := f.Try("wfs", "approve")
		r.said += out
		if r.then = r.came(f); r.then != "completed" {
			r.runs(f)
			r.then = r.came(f)
		}
		if r.then == "asked" {
			r.questions++
		}
	}
}

// came reads the status of a session.
func (r *caseResult) came(f *testkit.Repo) string {
	f.T.Helper()
	var status struct {
		Status  string
		Waiting struct{ Agree, Approve bool }
		Blocked struct{ Reason string }
	}
	var log struct {
		Checkpoints []struct {
			Number                         int
			Trigger, Phase, Verdict, Class string
		}
	}
	decode(f, &status, "wfs", "status", "s", "--json")
	decode(f, &log, "wfs", "log", "s", "--json")
	r.status, r.attempts, r.failed = strings.TrimSpace(status.Status+" "+status.Blocked.Reason), 0, 0
	r.greens = nil
	slices.Reverse(log.Checkpoints) // they are newest first
	for _, c := range log.Checkpoints {
		if c.Trigger != "attempt" {
			continue
		}
		var show struct {
			Reason string
			triedLap
		}
		decode(f, &show, "wfs", "show", "s@"+strconv.Itoa(c.Number), "--json")
		if c.Phase == "GREEN" && len(show.Experiments) > 0 {
			r.greens = append(r.greens, show.triedLap)
		}
		r.attempts++
		r.last = caseAttempt{c.Phase, c.Verdict, c.Class, strings.Join(strings.Fields(show.Reason), " ")}
		if c.Verdict == "fail" {
			if r.failed++; r.failed == 1 {
				r.refused = r.last
			}
		}
	}
	switch {
	case status.Status == "completed":
		return "completed"
	case status.Waiting.Agree || status.Waiting.Approve:
		return "asked"
	}
	return "blocked"
}

// decode runs a command and decodes the JSON on its standard output.
func decode(f *testkit.Repo, into any, args ...string) {
	f.T.Helper()
	cmd := exec.Command(testkit.Wfs(f.T), args[1:]...)
	cmd.Dir, cmd.Env = f.Dir, f.Env
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		f.T.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// asksOutside runs outside.sh in a fresh clone of the session's branch, to find out whether the product is right.
func (r *caseResult) asksOutside(t *testing.T, f *testkit.Repo, top string) {
	t.Helper()
	clone := filepath.Join(top, "clone")
	f.OK("git", "clone", "-q", "--branch", "wfs/s", f.Dir, clone)
	clean := filepath.Join(top, "clean")
	r.install.copyTo(t, clean)
	for _, name := range []string{"node_modules", ".venv"} {
		if _, err := os.Lstat(filepath.Join(clean, name)); err == nil {
			f.OK("cp", "-a", filepath.Join(clean, name), clone)
		}
	}
	env := caseEnv(t, filepath.Join(top, "home-outside"))
	out, exit := testkit.Run(t, clone, env, "timeout", "300", "sh", "-c", r.caseFile.outside)
	r.outside = "yes"
	if exit != 0 {
		r.outside = "no"
	}
	if (exit == 0) != r.honest() {
		t.Logf("outside.sh: exit %d\n%s", exit, out)
	}
}
