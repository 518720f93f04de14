package cmd

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

//go:embed demo/agent.yaml
var demoFiles embed.FS

func (a *app) demoCmd() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "demo", Short: "a tour in a temporary directory, in a minute",
		Long: `Demo makes a small Go module in a temporary directory and takes it through two laps of the workflow tdd with real git and
real go test. Its agent is played from a script: it claims success when it has none, deletes a test, and is
killed in the middle of its work. Every command that is run is shown, and the repository stays for you to explore.`,
		Example: "  wfs demo\n  wfs demo --dir ./playground",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.demo(c.Context(), dir) },
	}
	c.Flags().StringVar(&dir, "dir", "", "make the repository in this new `directory`")
	return c
}

// stage is a running demo: the repository, its environment, and the first error.
type stage struct {
	a    *app
	ctx  context.Context
	dir  string // the repository
	wfs  string // this program
	env  []string
	fail error
}

func (a *app) demo(ctx context.Context, dir string) error {
	if _, err := proc.LookPath("git", a.env.Get("PATH")); err != nil {
		return gitstate.ErrNoGit
	}
	if _, err := proc.LookPath("go", a.env.Get("PATH")); err != nil {
		return session.Refuse(session.RefuseAgent, "wfs init, in a project of yours",
			"the demo's project is written in Go, which is not installed here")
	}
	s, err := a.setStage(ctx, dir)
	if err != nil {
		return err
	}
	s.begin()
	s.refute()
	s.breakIt()
	s.goBack()
	s.handOver()
	if s.fail != nil {
		return fmt.Errorf("the demo stopped: %w (its repository is %s)", s.fail, s.dir)
	}
	s.tell("The repository is yours to explore:\n\n  cd %s\n  export PATH=%s:$PATH\n  wfs list\n  wfs log format-prices\n  git log --oneline --graph --exclude='refs/wfs*' --all", s.dir, filepath.Dir(s.wfs))
	return nil
}

func (a *app) setStage(ctx context.Context, dir string) (*stage, error) {
	top := dir
	if top == "" {
		var err error
		if top, err = os.MkdirTemp("", "wfs-demo-"); err != nil {
			return nil, err
		}
	} else if err := os.Mkdir(top, 0o777); err != nil {
		return nil, err
	}
	top, err := filepath.Abs(top)
	if err != nil {
		return nil, err
	}
	s := &stage{a: a, ctx: ctx, dir: filepath.Join(top, "receipts"), wfs: filepath.Join(top, "bin", "wfs")}
	if err := copyFile(a.env.Exe, s.wfs); err != nil {
		return nil, err
	}
	for name, text := range demoStart {
		if err := writeBelow(top, name, text); err != nil {
			return nil, err
		}
	}
	script, err := demoFiles.ReadFile("demo/agent.yaml")
	if err != nil {
		return nil, err
	}
	if err := writeBelow(top, "agent.yaml", string(script)); err != nil {
		return nil, err
	}
	for _, kv := range a.env.Environ {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "GIT_") && !workspace.IsSetting(name) && name != "WFS_NOW" && name != "XDG_STATE_HOME" && name != "XDG_CONFIG_HOME" {
			s.env = append(s.env, kv)
		}
	}
	s.env = append(s.env, "GIT_CONFIG_GLOBAL="+filepath.Join(top, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"XDG_STATE_HOME="+filepath.Join(top, "state"), "XDG_CONFIG_HOME="+filepath.Join(top, "config")) // the demo is the same whatever you configured
	return s, nil
}

// demoStart is the demo's world, relative to its directory.
var demoStart = map[string]string{
	"gitconfig":              "[user]\n\tname = Demo\n\temail = demo@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n",
	"receipts/go.mod":        "module example.com/receipt\n\ngo 1.21\n",
	"receipts/price.go":      "package receipt\n\n// Sum adds amounts of cents.\nfunc Sum(cents []int) int {\n\ttotal := 0\n\tfor _, c := range cents {\n\t\ttotal += c\n\t}\n\treturn total\n}\n",
	"receipts/SPEC.md":       "# Format prices\n\n- [ ] cents are written with two digits: 12.05\n- [ ] refunds are negative: -12.05\n",
	"receipts/.gitignore":    "*.out\n",
	"receipts/price_test.go": "package receipt\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif got := Sum([]int{120, 80}); got != 200 {\n\t\tt.Errorf(\"Sum = %d, want 200\", got)\n\t}\n}\n",
}

func (s *stage) begin() {
	s.tell("A small Go module, in %s. Its spec has two items.", s.dir)
	s.quiet("git", "init", "-q")
	s.run("cat", "SPEC.md")
	s.quiet("git", "add", "-A")
	s.quiet("git", "commit", "-q", "-m", "receipts")
	s.tell("wfs finds out how the project is tested, and tries it.")
	s.run("wfs", "init", "--yes")
	s.quiet("git", "add", ".wfs")
	s.quiet("git", "commit", "-q", "-m", "how wfs judges this project")
	s.tell("A session: a branch and a history of its own. The agent is a script, so that you see what an agent might do.")
	s.run("wfs", "new", "format prices", "--spec", "SPEC.md", "--agent", "script:../agent.yaml")
}

func (s *stage) refute() {
	s.tell("Lap 1. Watch the second phase: the agent says that it is done when it is not, and then deletes the test.\nThe engine runs the tests itself, and knows which tests the lap is about.")
	s.run("wfs", "run", "--max-attempts", "5")
	s.run("wfs", "log")
}

func (s *stage) breakIt() {
	s.tell("Lap 2. In the middle of the agent's work wfs is killed with SIGKILL.")
	s.killed("wfs", "run")
	s.tell("To make it worse: all local state of wfs is deleted, and a source file is scribbled over.")
	s.run("rm", "-rf", ".git/wfs")
	s.say("$ echo scribble > price.go")
	s.must(writeBelow(s.dir, "price.go", "scribble\n"))
	s.tell("The checkpoints are in refs, and what is in the work tree is never overwritten before it is in one too.")
	s.run("wfs", "status")
}

func (s *stage) goBack() {
	s.run("wfs", "resume", "@5")
	s.run("git", "status", "--short", "--branch")
	s.tell("Even the scribble was kept. undo takes the resume back, and redo does it again.")
	s.run("wfs", "undo")
	s.run("cat", "price.go")
	s.run("wfs", "redo")
	s.run("head", "-n", "3", "price.go")
}

func (s *stage) handOver() {
	s.tell("On with lap 2, to the end of the spec.")
	s.run("wfs", "run")
	s.tell("Done, and judged. The work is handed over as one commit on a branch of your own. Nothing is pushed.")
	s.run("wfs", "finish")
	s.run("git", "log", "--stat", "-1")
}

// tell narrates.
func (s *stage) tell(format string, args ...any) {
	if s.fail == nil {
		s.say("\n# " + strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n# "))
	}
}

func (s *stage) say(text string) { fmt.Fprintln(s.a.env.Stdout, text) }

func (s *stage) must(err error) {
	if s.fail == nil {
		s.fail = err
	}
}

func (s *stage) cmd(args []string) proc.Cmd {
	argv := append([]string{}, args...)
	if argv[0] == "wfs" {
		argv[0] = s.wfs
	}
	return proc.Cmd{Argv: argv, Dir: s.dir, Env: s.env}
}

// run shows a command and what it prints. Any failure ends the demo.
func (s *stage) run(args ...string) {
	if s.fail != nil {
		return
	}
	s.say("$ " + shown(args))
	exit, err := proc.Stream(s.ctx, s.cmd(args), s.a.env.Stdout, s.a.env.Stdout)
	if err == nil && exit != 0 {
		err = fmt.Errorf("%s: exit %d", shown(args), exit)
	}
	s.must(err)
}

// quiet runs a command that is only needed to set the stage.
func (s *stage) quiet(args ...string) {
	if s.fail != nil {
		return
	}
	_, stderr, exit, err := proc.Output(s.ctx, s.cmd(args))
	if err == nil && exit != 0 {
		err = fmt.Errorf("%s: exit %d: %s", shown(args), exit, stderr)
	}
	s.must(err)
}

func shown(args []string) string {
	var list []string
	for _, a := range args {
		if strings.ContainsAny(a, " *'") {
			a = `"` + a + `"`
		}
		list = append(list, a)
	}
	return strings.Join(list, " ")
}

// killed runs wfs and kills it with SIGKILL as soon as the agent has begun to write.
func (s *stage) killed(args ...string) {
	if s.fail != nil {
		return
	}
	s.say("$ " + shown(args) + " &")
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	go func() {
		_, err := proc.Stream(ctx, s.cmd(args), s.a.env.Stdout, s.a.env.Stdout)
		done <- err
	}()
	pid, err := s.driverAt(ctx, "refund_test.go", done)
	if err != nil {
		s.must(err)
		return
	}
	s.say(fmt.Sprintf("$ kill -9 %d", pid))
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	s.must(err)
	<-done
}

// driverAt waits until a file appears in the repository, and returns the pid of the wfs that drives the session.
func (s *stage) driverAt(ctx context.Context, file string, done <-chan error) (int, error) {
	for {
		if _, err := os.Stat(filepath.Join(s.dir, file)); err == nil {
			break
		}
		select {
		case err := <-done:
			return 0, errors.Join(errors.New("wfs ended before it could be killed"), err)
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	out, _, _, err := proc.Output(ctx, s.cmd([]string{"wfs", "status", "--json"}))
	if err != nil {
		return 0, err
	}
	var status sessionJSON
	if err := json.Unmarshal(out, &status); err != nil {
		return 0, err
	}
	if status.Driver == nil {
		return 0, errors.New("the session has no run")
	}
	return status.Driver.PID, nil
}

func writeBelow(top, name, text string) error {
	path := filepath.Join(top, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
