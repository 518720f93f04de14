package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Version is what `wfs version` says. Releases set it with -ldflags "-X github.com/wfs-dev/wfs/cmd.Version=v1.2.3".
var Version = "dev"

const rootHelp = `wfs drives a coding agent, any command, or a person through the phases of a workflow. It judges every attempt
itself, commits a checkpoint to the session's own branch after each one, and can go back to any of them.

It cannot lose your work: nothing is overwritten before it is reachable from a ref.

It does not believe the agent: a phase ends when the engine's own gates say so.`

const rootExamples = `  wfs demo           see all of it in a temporary directory
  wfs init           find out how this project is tested, and try it
  wfs new "csv export" --agent claude
  wfs run            drive it until it is done, or needs you
  wfs                what happened, where it stands, what to type
  wfs finish         one clean commit on a branch of yours`

// Main runs one command line and returns the exit code.
func Main(env Env) int {
	debug.SetGCPercent(400) // short-lived: memory is cheaper than collecting it
	ctx, sig := withSignals(context.Background())
	defer sig.stop()
	out := &output{to: env.Stdout}
	env.Stdout = out
	a := &app{env: env, signals: sig, color: "auto"}
	root := a.root()
	if completing(env.Args) {
		a.complete(root)
		env.Stderr = io.Discard // whatever is wrong must not end in the line that somebody types
	}
	root.SetArgs(env.Args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := a.endPager(root.ExecuteContext(ctx))
	a.close()
	a.notices.wait() // the session is free already
	a.sayAside()
	var quiet *quietExit
	lost := out.failed()
	switch {
	case err == nil && lost == nil:
		return exitOK
	case err == nil:
		err = lost
	case errors.As(err, &quiet):
		if lost != nil {
			diagnose(lost).print(a)
		}
		return quiet.code
	}
	f := a.diagnose(err)
	f.print(a)
	return f.Exit
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "wfs", Short: "a workflow engine that keeps its state in Git", Long: rootHelp, Example: rootExamples,
		Args: noArgs, SilenceErrors: true, SilenceUsage: true, SuggestionsMinimumDistance: 2,
		RunE:              func(c *cobra.Command, _ []string) error { return a.story(c.Context(), c) },
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return a.notByAgent(c) },
	}
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print JSON on standard output")
	f.VarP(&directory{a.env.Dir, &a.env.Dir}, "directory", "C", "run as if started in this `directory`")
	f.Var(&a.color, "color", "`when` to use colours: auto, always or never")
	f.BoolVar(&a.noPager, "no-pager", false, "do not show long output in a pager")
	root.SetFlagErrorFunc(a.flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddGroup(&cobra.Group{ID: "work", Title: "Work:"}, &cobra.Group{ID: "look", Title: "Look:"}, &cobra.Group{ID: "move", Title: "Move:"}, &cobra.Group{ID: "care", Title: "Look after:"}, &cobra.Group{ID: "set", Title: "Set up:"})
	add := func(group string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("work", a.newCmd(), a.forkCmd(), a.runCmd(), a.stopCmd(), a.noteCmd(), a.approveCmd(), a.rejectCmd(), a.phaseCmd(), a.checkpointCmd(), a.allowCmd(), a.finishCmd())
	add("look", a.attachCmd(), a.watchCmd(), a.statusCmd(), a.listCmd(), a.logCmd(), a.showCmd(), a.diffCmd(),
		a.pathCmd(), a.budgetCmd(), a.checkCmd())
	add("move", a.switchCmd(), a.resumeCmd(), a.undoCmd(), a.redoCmd(), a.opCmd(), a.worktreeCmd())
	add("care", a.abandonCmd(), a.deleteCmd(), a.renameCmd(), a.editCmd(), a.repinCmd(), a.exportCmd(), a.gcCmd(), a.doctorCmd())
	add("set", a.initCmd(), a.configCmd(), a.workflowCmd(), a.agentCmd(), a.trustCmd(), a.hookCmd(), a.uninstallCmd(), a.demoCmd(), a.completionCmd(), a.versionCmd())
	root.AddCommand(topics()...)
	root.AddCommand(a.oldCommands()...)
	root.SetHelpCommand(a.helpCmd())
	root.SetHelpCommandGroupID("look")
	root.SetHelpFunc(a.help)
	return root
}

// peoplesWords are the commands by which people decide, whatever session they are about: no agent may do so for them.
var peoplesWords = []string{
	"note", "approve", "reject", "phase back", "phase skip", "allow", "finish", "stop", "abandon", "delete", "edit", "repin", "budget set", "trust",
	"gc", "uninstall", "undo", "redo", "rename", "worktree remove", "status --seen", "run --agree", "run --note",
	"run --reset-breaker", "run --ignore-survivors",
}

// notByAgent refuses a person's word within the run of an agent.
func (a *app) notByAgent(c *cobra.Command) error {
	a.verb = asTyped(c)
	if a.env.get("WFS_RUN_ID") == "" {
		return nil // see notWithin
	}
	if !slices.Contains(peoplesWords, strings.TrimPrefix(a.verb, "wfs ")) {
		return nil
	}
	return byAgent(a.verb)
}

// asTyped is a command with the flag that makes it a person's word, if there is one.
func asTyped(c *cobra.Command) string {
	command := c.CommandPath()
	c.Flags().Visit(func(f *pflag.Flag) {
		if typed := c.CommandPath() + " --" + f.Name; slices.Contains(peoplesWords, strings.TrimPrefix(typed, "wfs ")) {
			command = typed
		}
	})
	return command
}

func byAgent(command string) error {
	return &session.Refusal{Code: session.RefuseUsage, Message: command + " is a person's word, and this is the run of an agent", Hint: "ask in $WFS_RESULT"}
}

// directory is the flag -C. What is relative is so to where the user is.
type directory struct {
	from string
	dir  *string
}

func (d *directory) String() string { return "" } // the help says the same everywhere
func (d *directory) Type() string   { return "directory" }
func (d *directory) Set(s string) error {
	if s == "" {
		return nil // as git has it
	}
	if !filepath.IsAbs(s) {
		s = filepath.Join(d.from, s)
	}
	if !isDir(s) {
		return fmt.Errorf("%s is no directory", s)
	}
	*d.dir = s
	return nil
}

// flagError says what is wrong with a flag, and which one may have been meant.
func (a *app) flagError(c *cobra.Command, err error) error {
	a.json = a.json || slices.Contains(a.env.Args, "--json") // it may stand behind what is wrong
	e := &usageError{err.Error(), c.CommandPath() + " --help"}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := workflows.Suggest(unknown.GetSpecifiedName(), names); near != "" {
			e.hint = fmt.Sprintf("did you mean --%s? %s --help", near, c.CommandPath())
		}
	}
	return e
}

// noArgs refuses arguments, and suggests the command that may have been meant.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.HasParent() && !c.HasSubCommands() {
		return &usageError{fmt.Sprintf("%s takes no argument, got %q", c.CommandPath(), args[0]), c.CommandPath() + " --help"}
	}
	e := &usageError{fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath()), c.CommandPath() + " --help"}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		e.hint = c.CommandPath() + " " + near[0]
	}
	return e
}

// upTo refuses more than n arguments.
func upTo(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return &usageError{fmt.Sprintf("%s takes at most %d %s, got %d", c.CommandPath(), n, plural(n, "argument", "arguments"), len(args)), c.CommandPath() + " --help"}
		}
		return nil
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// signals turns the first interrupt into a cancelled context, the second into a killed run, and the third into the end.
type signals struct {
	ch    chan os.Signal
	first os.Signal
	hurry chan struct{} // closed by the second
	// patient says that a pager has the terminal: it gets the interrupts too, and ends when the person wants it to.
	patient atomic.Bool
	stop    func()
	leave   atomic.Pointer[func()] // what the third leaves tidy
}

func withSignals(parent context.Context) (context.Context, *signals) {
	ctx, cancel := context.WithCancel(parent)
	s := &signals{ch: make(chan os.Signal, 3), hurry: make(chan struct{})}
	// SIGQUIT, Ctrl-\ in a terminal, would end a Go program on the spot, and leave the agent running.
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(sig) { // by nohup, or by a shell that started us in the background
			signal.Notify(s.ch, sig)
		}
	}
	done := make(chan struct{})
	s.stop = func() { signal.Stop(s.ch); close(done); cancel() }
	go func() {
		for n := 0; ; n++ {
			select {
			case sig := <-s.ch:
				if sig == os.Interrupt && s.patient.Load() {
					n--
					continue
				}
				switch n {
				case 0:
					s.first = sig
					cancel()
				case 1:
					close(s.hurry)
				default:
					if leave := s.leave.Load(); leave != nil {
						(*leave)()
					}
					os.Exit(s.exitCode())
				}
			case <-done:
				return
			}
		}
	}()
	return ctx, s
}

// atExit calls a function before the process ends at once.
func (s *signals) atExit(f func()) { s.leave.Store(&f) }

// why says what interrupted a run, in the words of a session's events.
func (s *signals) why() string {
	switch s.first {
	case syscall.SIGTERM, syscall.SIGQUIT:
		return "terminated"
	case syscall.SIGHUP:
		return "the terminal was closed"
	}
	return "ctrl-c"
}

func (s *signals) exitCode() int {
	switch s.first {
	case syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return exitTerminated
	}
	return exitInterrupted
}
