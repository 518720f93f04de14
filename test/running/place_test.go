// Package running tests the built binary while something is in progress: runs in the foreground and in the background,
// signals, locks of other programs, processes that outlive their wfs, notices, and the terminal's contents meanwhile.
package running

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

const (
	exitOK          = testkit.ExitOK
	exitError       = testkit.ExitError
	exitUsage       = testkit.ExitUsage
	exitDecision    = testkit.ExitDecision
	exitBlocked     = testkit.ExitBlocked
	exitHeld        = testkit.ExitHeld
	exitWaiting     = testkit.ExitWaiting
	exitInterrupted = testkit.ExitInterrupted
	exitTerminated  = testkit.ExitTerminated
)

// place is a repository with a home of its own, in which the tests start, signal and inspect real processes. The
// session's agent is the shell script that the method agent wrote last.
type place struct {
	t    *testing.T
	home string
	dir  string
	env  []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	testkit.UseWfs(t)
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, home: filepath.Join(top, "home"), dir: filepath.Join(top, "repo")}
	p.env = append(os.Environ(), "HOME="+p.home, "XDG_CONFIG_HOME="+p.home+"/config", "XDG_STATE_HOME="+p.home+"/state",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+p.home+"/gitconfig", "LC_ALL=C", "TZ=UTC")
	p.write("../home/gitconfig", "[user]\n\tname = T\n\temail = t@example.com\n[init]\n\tdefaultBranch = main\n")
	p.write("a.txt", "as committed\n")
	p.write(".wfs/config.yaml", "version: 1\nworkflow: plain\nagent: sh \"$HOME/agent.sh\"\ngates:\n  tests: {run: \"test ! -f broken\"}\n")
	p.write(".wfs/workflows/plain.yaml", "version: 1\nname: plain\nstart: WORK\nphases:\n  WORK:\n    run: agent\n    gates: [{use: tests}]\n    on: {pass: done}\n")
	p.ok("git", "init", "-q")
	p.ok("git", "add", "-A")
	p.ok("git", "commit", "-q", "-m", "start")
	p.ok("wfs", "trust", "--yes")
	return p
}

// agent writes the script that works in the phases.
func (p *place) agent(script string) {
	p.t.Helper()
	p.write("../home/agent.sh", script)
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		p.t.Fatal(err)
	}
}

// read returns a file of the home, without the newline at its end.
func (p *place) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.home, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// try runs a command and returns its output and its exit code.
func (p *place) try(args ...string) (string, int) {
	p.t.Helper()
	r := p.start(args...)
	return r.wait()
}

func (p *place) ok(args ...string) string {
	p.t.Helper()
	out, exit := p.try(args...)
	if exit != 0 {
		p.t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), exit, out)
	}
	return strings.TrimSpace(out)
}

// exits runs a command and checks its exit code and that its output holds some texts.
func (p *place) exits(exit int, args []string, texts ...string) string {
	p.t.Helper()
	out, got := p.try(args...)
	if got != exit {
		p.t.Fatalf("%s: exit %d, want %d: %s", strings.Join(args, " "), got, exit, out)
	}
	testkit.Holds(p.t, out, texts...)
	return out
}

// until waits until is returns true. If that takes too long, the test fails with the output of the given commands.
func (p *place) until(what string, is func() bool, of ...*running) {
	p.t.Helper()
	for limit := time.Now().Add(30 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			for _, r := range of {
				p.t.Logf("%v: %s", r.cmd.Args, &r.out)
			}
			p.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// await waits until a file in the home has a complete line.
func (p *place) await(name string) {
	p.t.Helper()
	p.until(name, func() bool { return p.has(name) })
}

// has reports whether a file of the home exists and ends with a newline.
func (p *place) has(name string) bool {
	data, err := os.ReadFile(filepath.Join(p.home, name))
	return err == nil && bytes.HasSuffix(data, []byte("\n"))
}

// gone waits until a process is dead; a zombie counts as dead.
func (p *place) gone(pid string) {
	p.t.Helper()
	p.until("the end of process "+pid, func() bool {
		out, _ := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
		state := strings.TrimSpace(string(out))
		return state == "" || strings.HasPrefix(state, "Z")
	})
}

// running is a command in the background.
type running struct {
	p   *place
	cmd *exec.Cmd
	out shared
}

// shared is a buffer that may be read while a command writes to it.
type shared struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *shared) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(data)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

func (p *place) start(args ...string) *running {
	p.t.Helper()
	r := &running{p: p, cmd: exec.Command(args[0], args[1:]...)}
	r.cmd.Dir, r.cmd.Env = p.dir, p.env
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	r.cmd.WaitDelay = 5 * time.Second // an agent that outlives its wfs may hold the output open
	if err := r.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return r
}

// wait returns a command's output and its exit code, -1 if a signal ended it.
func (r *running) wait() (string, int) {
	r.p.t.Helper()
	err := r.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		r.p.t.Fatalf("%v: %v", r.cmd.Args, err)
	}
	return r.out.String(), r.cmd.ProcessState.ExitCode()
}

func (r *running) signal(sig syscall.Signal) {
	r.p.t.Helper()
	if err := r.cmd.Process.Signal(sig); err != nil {
		r.p.t.Fatal(err)
	}
}

// await waits until the command has printed a text.
func (r *running) await(text string) {
	r.p.t.Helper()
	r.p.until(text, func() bool { return strings.Contains(r.out.String(), text) })
}
