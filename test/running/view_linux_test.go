package running

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/internal/vt"
)

// seen is a command at a terminal.
type seen struct {
	*running
	*vt.Screen
	master *os.File
	raw    *strings.Builder // all output
	done   chan struct{}    // closed when all processes have closed the terminal, and all output is read
}

func (p *place) watch(columns, rows int, env []string, args ...string) *seen {
	p.t.Helper()
	master, tty, err := vt.Open(columns, rows)
	if err != nil {
		p.t.Fatal(err)
	}
	s := &seen{&running{p: p, cmd: exec.Command(args[0], args[1:]...)}, vt.New(columns, rows), master, &strings.Builder{}, make(chan struct{})}
	s.cmd.Dir, s.cmd.Env = p.dir, append(append(p.env[:len(p.env):len(p.env)], "TERM=xterm", "WFS_NOW=2030-01-02T03:04:05Z"), env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	_ = tty.Close()
	go func() {
		defer close(s.done)
		_, _ = io.Copy(io.MultiWriter(s.Screen, s.raw), master) // until all processes have closed the other end
	}()
	p.t.Cleanup(func() { _ = s.cmd.Process.Kill(); <-s.done; _ = master.Close() })
	return s
}

func (s *seen) types(text string) {
	s.p.t.Helper()
	if _, err := s.master.WriteString(text); err != nil {
		s.p.t.Fatal(err)
	}
}

var differs = regexp.MustCompile(`\b[0-9a-f]{10}\b| after [0-9.]+m?s|, [0-9.]+m?s`)

// plainly returns the screen without the parts that differ every time.
func (s *seen) plainly() string {
	return differs.ReplaceAllStringFunc(s.Text(), func(found string) string {
		if strings.HasSuffix(found, "s") {
			return ""
		}
		return "0123456789"
	})
}

// shows waits until the screen is as expected.
func (s *seen) shows(want string) {
	s.p.t.Helper()
	want = strings.Trim(want, "\n")
	defer func() {
		if got := s.plainly(); got != want {
			s.p.t.Fatalf("the screen shows\n%s\nwant\n%s", got, want)
		}
	}()
	s.p.until("the screen", func() bool { return s.plainly() == want || s.cmd.ProcessState != nil })
}

func (s *seen) ends(exit int) {
	s.p.t.Helper()
	_, got := s.wait()
	<-s.done
	if got != exit {
		s.p.t.Fatalf("exit %d, want %d:\n%s", got, exit, s.Text())
	}
	if on, err := vt.Echoes(s.master); err != nil || !on {
		s.p.t.Errorf("what is typed is not shown any more (%v)", err)
	}
}

// viewAgent prints a text, and works when the pipe "go" gets a line.
const viewAgent = `test -p "$HOME/go" || mkfifo "$HOME/go"
printf 'first a test for the total, then \033[31mthe total\033[m itself, in words that are many\n'
read -r line < "$HOME/go"
echo work > work.txt
`

// begun is above the view from the first attempt on.
const begun = `one  one   (plain, sh "$HOME/agent.sh")

WORK, attempt 1`

const viewEnd = begun + `
  agent  work.txt +1
         "first a test for the total, then the total itself, in words that are many"
  tests  passed
  clean  also passes in a clean checkout
  ok @1  the command exited with code 0

one  DONE at @1
  gates      tests
  clean      also passes in a clean checkout
  beware     no new test was requested; no hold-out tests; no review
next: wfs diff one   then: wfs finish one
`

func TestView(t *testing.T) {
	t.Parallel()
	for columns, want := range map[int]string{
		40: begun + `
│ WORK  attempt 1                   0:00
│ "first a test for the total, then the…
│ the agent is thinking             0:00
│ Ctrl-C stops it, and keeps what is th…
`, 80: begun + `
│ WORK  attempt 1                                                           0:00
│ "first a test for the total, then the total itself, in words that are many"
│ the agent is thinking                                                     0:00
│ Ctrl-C stops it, and keeps what is there
`, 200: begun + `
│ WORK  attempt 1` + strings.Repeat(" ", 179) + `0:00
│ "first a test for the total, then the total itself, in words that are many"
│ the agent is thinking` + strings.Repeat(" ", 173) + `0:00
│ Ctrl-C stops it, and keeps what is there
`,
	} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.agent(viewAgent)
			p.ok("wfs", "new", "one")
			s := p.watch(columns, 12, nil, "wfs", "run")
			s.shows(want)
			if on, err := vt.Echoes(s.master); err != nil || on {
				t.Errorf("what is typed tears the lines apart (%v)", err)
			}
			s.types("\n\ntyped too early\n")
			p.write("../home/go", "go\n")
			s.ends(0)
			if columns < 80 {
				return // its lines are broken
			}
			want := viewEnd
			if columns == 80 {
				want = strings.Replace(want, "are many", "are…", 1)
			}
			s.shows(want)
		})
	}
}

// Without a suitable terminal, or if the user does not want a view, wfs prints lines.
func TestViewElsewhere(t *testing.T) {
	t.Parallel()
	const said = "    first a test for the total, then the total itself, in words that are many"
	lines := strings.Replace(viewEnd, `         "first a test for the total, then the total itself, in words that are many"`+"\n", "", 1)
	lines = strings.Replace(lines, "  agent", said+"\n  agent", 1)
	lines = strings.Replace(lines, "  tests  passed",
		"    gate tests …\n    gate tests again in a clean checkout, without caches …\n  tests  passed", 1)
	for name, c := range map[string]struct {
		env, args []string
		want      string
	}{
		"dumb":       {[]string{"TERM=dumb"}, nil, lines},
		"accessible": {[]string{"ACCESSIBLE=1"}, nil, lines},
		"verbose":    {nil, []string{"--verbose"}, lines},
		"quiet": {nil, []string{"--quiet"}, `
WORK  pass: the command exited with code 0 (attempt 1)  checkpoint 1  0123456789

one  DONE at @1
  gates      tests
  clean      also passes in a clean checkout
  beware     no new test was requested; no hold-out tests; no review
next: wfs diff one   then: wfs finish one
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.agent(viewAgent)
			p.ok("wfs", "new", "one")
			s := p.watch(100, 20, c.env, append([]string{"wfs", "run"}, c.args...)...)
			if name == "dumb" || name == "accessible" {
				s.shows(begun + "\n" + said)
			}
			p.until("the agent", func() bool { return fileMode(p.home+"/go")&os.ModeNamedPipe != 0 })
			p.write("../home/go", "go\n")
			s.ends(0)
			text := s.plainly()
			if want := strings.Trim(c.want, "\n"); text != want {
				t.Errorf("the screen shows\n%s\nwant\n%s", text, want)
			}
		})
	}
}

func fileMode(path string) os.FileMode {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Mode()
}

// Ctrl-Z leaves the screen tidy, and the view comes back; Ctrl-C ends the run and removes the view.
func TestViewStops(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent(viewAgent)
	p.ok("wfs", "new", "one")
	s := p.watch(80, 12, nil, "wfs", "run")
	const block = `
│ WORK  attempt 1                                                           0:00
│ "first a test for the total, then the total itself, in words that are many"
│ the agent is thinking                                                     0:00
│ Ctrl-C stops it, and keeps what is there`
	s.shows(begun + block)
	s.types("\x1a")
	s.shows(begun)
	p.until("a process that stands still", func() bool {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
		_, state, _ := strings.Cut(string(data), ") ")
		return err == nil && strings.HasPrefix(state, "T")
	})
	if on, err := vt.Echoes(s.master); err != nil || !on {
		t.Errorf("the shell does not show what is typed (%v)", err)
	}
	s.signal(syscall.SIGCONT)
	s.shows(begun + block)
	if on, err := vt.Echoes(s.master); err != nil || on {
		t.Errorf("what is typed tears the lines apart (%v)", err)
	}
	s.types("\x03")
	s.ends(exitInterrupted)
	s.shows(begun + `
stopping; Ctrl-C again to kill
  agent  no change
         was interrupted
interrupted (ctrl-c)

one  interrupted in WORK (ctrl-c)
next: wfs run one   or: wfs resume one@0
`)
}
