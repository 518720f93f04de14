package proc_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/internal/proc"
)

func alive(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func needSetsid(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		notHere(t, "needs setsid")
	}
}

// withDaemon gives the script a daemon.sh that never ends by itself, and waits until it runs.
func withDaemon(t *testing.T, script string) proc.Spec {
	t.Helper()
	needSetsid(t)
	s := spec(t, script+"\nuntil [ -e pid ]; do sleep 0.01; done")
	text := "trap '' TERM HUP; echo $$ > pid.new; mv pid.new pid; while :; do sleep 0.01; done\n"
	if err := os.WriteFile(filepath.Join(s.Dir, "daemon.sh"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRunFindsEscapedByMarker(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"setsid":      `setsid sh daemon.sh &`,
		"double fork": `(setsid sh -c '(sh daemon.sh &)' &)`,
		"nohup":       `setsid nohup sh daemon.sh >/dev/null 2>&1 </dev/null &`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withDaemon(t, script)
			var out bytes.Buffer
			s.Stdout = &out
			if r := run(t, t.Context(), s); r.Ended != proc.Exited || r.Exit != 0 {
				t.Fatalf("%+v", r)
			}
			expectDead(t, pid(t, s, "pid"))
		})
	}
}

func expectDead(t *testing.T, pid int) {
	t.Helper()
	if alive(pid) {
		t.Errorf("%d lives", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Not parallel: with several runs at once it is unknown whose orphan it is.
func TestRunFindsEscapedWithoutEnvironment(t *testing.T) {
	s := withDaemon(t, `setsid env -i PATH="$PATH" sh daemon.sh &`)
	run(t, t.Context(), s)
	expectDead(t, pid(t, s, "pid"))
}

// Not parallel, for the same reason: a run looks for orphans only if no other is running.
func TestRunSparesOtherChildren(t *testing.T) {
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	run(t, t.Context(), spec(t, "true"))
	if !alive(other.Process.Pid) {
		t.Error("a stranger was killed")
	}
	_ = other.Process.Kill()
	_ = other.Wait()
}

func TestRunReapsOrphans(t *testing.T) {
	s := spec(t, `i=0; while [ $i -lt 50 ]; do (setsid true &); i=$((i+1)); done; (setsid sh -c 'echo $$ > pid' &) ; until [ -s pid ]; do sleep 0.01; done`)
	run(t, t.Context(), s)
	if _, err := os.Stat("/proc/" + strconv.Itoa(pid(t, s, "pid"))); err == nil {
		t.Error("an orphan is left as a zombie")
	}
}

func TestRunJobControl(t *testing.T) {
	t.Parallel()
	s := spec(t, `set -m; env -u WFS_RUN_ID sh -c 'trap "echo bye; exit" TERM; echo $$ > pid.new; mv pid.new pid; while :; do sleep 0.01; done' &
		until [ -e pid ]; do sleep 0.01; done`)
	var out bytes.Buffer
	s.Stdout = &out
	bash, err := exec.LookPath("bash") // other shells need a terminal for it
	if err != nil {
		notHere(t, "needs bash")
	}
	s.Argv[0] = bash
	run(t, t.Context(), s)
	expectDead(t, pid(t, s, "pid"))
	if out.String() != "bye\n" {
		t.Errorf("a job was not asked to end: %q", out.String())
	}
}

func TestRunLeadsASession(t *testing.T) {
	t.Parallel()
	s := spec(t, `read -r stat < /proc/$$/stat; echo "$stat"`)
	var out bytes.Buffer
	s.Stdout = &out
	run(t, t.Context(), s)
	f := strings.Fields(out.String()) // pid (sh) state parent group session
	if len(f) < 6 || f[4] != f[0] || f[5] != f[0] {
		t.Errorf("%q", out.String())
	}
}

func TestMarked(t *testing.T) {
	t.Parallel()
	const entry = "WFS_RUN_ID=test-marked"
	cmd := exec.Command("cat")
	cmd.Env = []string{"A=1", entry}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if got := proc.Marked(entry); len(got) != 1 || got[0] != cmd.Process.Pid {
		t.Errorf("%v, want %d", got, cmd.Process.Pid)
	}
	if got := proc.Marked(entry + "x"); len(got) != 0 {
		t.Errorf("%v", got)
	}
	_ = in.Close()
	_ = cmd.Wait()
	if got := proc.Marked(entry); len(got) != 0 {
		t.Errorf("%v after its end", got)
	}
}

// notHere skips a test whose requirements are missing. With WFS_REQUIRE_SANDBOX it fails instead, as in .ci/run.
func notHere(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("WFS_REQUIRE_SANDBOX") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}
