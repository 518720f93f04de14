package running

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/internal/vt"
)

// boardAgent asks in the session "asks", and waits in the session "works" for a line in the pipe "go".
const boardAgent = `case $WFS_SESSION in
asks) test "$WFS_ATTEMPT" != 1 || echo '{"ask": "tabs or semicolons?"}' > "$WFS_RESULT" ;;
*) test -p "$HOME/go" || mkfifo "$HOME/go"; echo 'I look at the code first'
  read -r line < "$HOME/go"; echo work > work.txt ;;
esac
`

// sees waits until the screen has all texts.
func (s *seen) sees(texts ...string) {
	s.p.t.Helper()
	has := func() bool {
		for _, text := range texts {
			if !strings.Contains(s.Text(), text) {
				return false
			}
		}
		return true
	}
	defer func() {
		if !has() {
			s.p.t.Fatalf("the screen lacks one of %q:\n%s", texts, s.Text())
		}
	}()
	s.p.until("the screen", func() bool { return has() || s.cmd.ProcessState != nil })
}

// TestBoard plays a user who leads two sessions from the board, while one of them works.
func TestBoard(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent(boardAgent)
	p.ok("wfs", "new", "asks")
	p.exits(exitDecision, []string{"wfs", "run"})
	p.ok("git", "switch", "-q", "main")
	p.ok("wfs", "new", "works", "--worktree")

	s := p.watch(80, 24, nil, "sh", "-c", "echo before; wfs watch; echo after $?")
	s.sees("2 sessions: 1 needs you, 1 not running", "tabs or semicolons?", ">asks")
	if on, err := vt.Echoes(s.master); err != nil || on {
		t.Errorf("what is typed is shown (%v)", err)
	}

	// live: another process begins to run
	p.ok("wfs", "run", "works", "--detach")
	s.sees("1 needs you, 1 running", "the agent is thinking")

	// keys: text, question, command, and what it printed
	s.types("a")
	s.sees("asks waits for no yes or no")
	s.types("q")
	s.sees("r run")
	s.types("nsemic\x7fcolons\r")
	s.sees("$ wfs note asks -m semicolons", "noted for the next attempt of asks")
	s.types("q")
	s.sees("1 running, 1 not running")

	// the run of one session; q comes back, and it goes on
	s.types("k\r")
	s.sees("watching `wfs run --detach`", "before", "WORK  attempt 1")
	s.types("q")
	s.sees(">works", "1 running")
	s.types("S")
	s.sees("stop works after this attempt? [y/N]")
	s.types("y")
	s.sees("$ wfs stop works", "asked: `wfs run --detach`")
	s.types("q")
	p.write("../home/go", "go\n")
	s.sees("1 not running, 1 done", "completed")

	// a smaller terminal
	if err := vt.Resize(s.master, 80, 8); err != nil {
		t.Fatal(err)
	}
	s.sees("DONE")

	s.types("q")
	s.ends(0)
	if got := s.Text(); !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, "after 0") ||
		strings.Contains(got, "NOT RUNNING") {
		t.Errorf("the terminal is not as it was:\n%s", got)
	}
}

// TestBoardApproves answers a question of a session with one key.
func TestBoardApproves(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent("echo work > work.txt\n")
	p.write(".wfs/workflows/plain.yaml", "version: 1\nname: plain\nstart: WORK\nphases:\n"+
		"  WORK:\n    run: agent\n    gates: [{use: tests}]\n    on: {pass: LOOK}\n"+
		"  LOOK:\n    run: human\n    on: {pass: done}\n")
	p.ok("git", "commit", "-q", "-a", "-m", "a person looks")
	p.ok("wfs", "trust", "--yes")
	p.ok("wfs", "new", "one")
	p.exits(exitDecision, []string{"wfs", "run"})
	s := p.watch(80, 24, []string{"NO_COLOR=1"}, "wfs", "watch")
	s.sees("NEEDS YOU", "one")
	s.types("d")
	s.sees("$ wfs diff one", "+work")
	s.types("q")
	s.types("a")
	s.sees("approve one@1? [y/N]")
	s.types("y")
	s.sees("$ wfs approve one@1", "DONE")
	s.types("q")
	s.sees("1 session: 1 done")
	if strings.Contains(s.raw.String(), "\x1b[1m") {
		t.Error("colours in spite of NO_COLOR")
	}
	s.types("q")
	s.ends(0)
	testkit.Holds(t, p.ok("wfs", "list"), "completed")
}

// TestBoardStops sends signals: the terminal is always as it was before.
func TestBoardStops(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.ok("wfs", "new", "one")
	for name, c := range map[string]struct {
		exit int
		stop func(s *seen)
	}{
		"Ctrl-C":  {exitInterrupted, func(s *seen) { s.types("\x03") }},
		"SIGTERM": {exitTerminated, func(s *seen) { s.signal(syscall.SIGTERM) }},
		"Ctrl-Z": {exitOK, func(s *seen) {
			s.types("\x1a")
			p.until("the shell's screen",
				func() bool { on, err := vt.Echoes(s.master); return on && err == nil && s.Text() == "" })
			s.signal(syscall.SIGCONT)
			s.sees("NOT RUNNING")
			s.types("q")
		}},
	} {
		s := p.watch(80, 24, nil, "wfs", "watch")
		s.sees("NOT RUNNING", "one")
		c.stop(s)
		s.ends(c.exit)
		if s.Text() != "" {
			t.Errorf("%s leaves\n%s", name, s.Text())
		}
	}
}

// Where no board can be drawn, watch prints lines.
func TestBoardElsewhere(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.ok("wfs", "new", "one")
	p.ok("git", "switch", "-q", "main")
	for _, env := range []string{"TERM=dumb", "ACCESSIBLE=1"} {
		s := p.watch(80, 24, []string{env}, "wfs", "watch")
		s.ends(0)
		if got := s.Text(); got != "one  created, to begin with WORK" {
			t.Errorf("%s: %s", env, got)
		}
	}
	p.agent("test -p \"$HOME/go\" || mkfifo \"$HOME/go\"\nread -r line < \"$HOME/go\"\necho work > work.txt\n")
	p.ok("wfs", "switch", "one")
	p.ok("wfs", "run", "--detach")
	lines := p.start("wfs", "watch", "--all")
	lines.await("one  running in WORK")
	p.until("the agent", func() bool { return fileMode(p.home+"/go")&os.ModeNamedPipe != 0 })
	p.write("../home/go", "go\n")
	out, exit := lines.wait()
	if exit != exitOK || strings.Count(out, "one  completed") != 1 {
		t.Errorf("exit %d: %s", exit, out)
	}
}
