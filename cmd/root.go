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

	"github.com/wfs-dev/wfs/workflows/spelling"
	"github.com/wfs-dev/wfs/workspace"
)

// mainHelp is the help of wfs itself: the commands for daily use.
const mainHelp = `wfs lets a coding agent work on a goal, runs the tests itself after every
attempt, and commits each attempt. Nothing is lost; everything can be undone.

Usage: wfs [COMMAND] [SESSION[@N]] [-m TEXT] [flags]

Begin
  init             find the test command, try it, write .wfs/config.yaml
  start GOAL       new session, and run it        (new: only create it)

Work
  run              run the agent until it is done or needs you
  stop             stop after this attempt        (--now: at once)
  note TEXT        message for the next attempt, or answer to a question
  approve, reject  yes, or no with a reason, to what a session waits for

Look
  status           where it stands, what to type next  (the same as: wfs)
  list             all sessions
  log, show, diff  checkpoints; one with its evidence; what changed

Move
  switch           go to another session or branch
  resume           go back to a checkpoint: wfs resume csv-export@4
  undo, redo       undo the last wfs command, or redo it

Hand over
  finish           one commit on a branch of yours; nothing is pushed

SESSION is a name from ` + "`wfs list`" + `; csv-export@4 is its checkpoint 4, @4 that
of the current session. No SESSION means the one checked out here.
`

const mainMore = `
wfs help --all     all commands          wfs help COMMAND   examples, flags
wfs demo           a tour, in a minute
`

// Main runs wfs with the command line of env, and returns the exit code.
func Main(env Env) int {
	debug.SetGCPercent(400) // wfs ends soon, so memory is cheaper than collections
	ctx, sig := withSignals(context.Background())
	defer sig.stop()
	out := &output{to: env.Stdout}
	env.Stdout = out
	a := newApp(env, sig)
	a.env.Args = spelledNow(env.Args, a.note)
	a.args = a.env.Args
	root := a.root()
	if completing(env.Args) {
		(&completer{a.Workspace}).answer(root)
		env.Stderr = io.Discard // errors would end up in the user's command line
	}
	root.SetArgs(a.env.Args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := a.endPager(root.ExecuteContext(ctx))
	a.Close()
	a.notices.wait() // the session's locks are released already
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
			a.diagnose(lost).print(a)
		}
		return quiet.code
	}
	f := a.diagnose(err)
	f.print(a)
	return f.Exit
}

func (a *app) root() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use: "wfs", Short: "let a coding agent work, and judge what it does", Long: mainHelp +
			mainMore, Example: "  wfs\n  wfs demo",
		Args: noArgs, SilenceErrors: true, SilenceUsage: true, SuggestionsMinimumDistance: 2,
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				return (&versionVerb{a}).run(c.Context(), nil)
			}
			return (&statusVerb{app: a}).story(c.Context())
		},
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			a.env.JSON = a.json
			return a.notByAgent(c)
		},
	}
	a.env.Color = "auto"
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print JSON on standard output")
	f.VarP(&directory{a.env.Dir, &a.env.Dir}, "directory", "C", "run as if started in this `directory`")
	f.Var(&a.env.Color, "color", "`when` to use colours: auto, always or never")
	f.BoolVar(&a.noPager, "no-pager", false, "do not show long output in a pager")
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version: wfs version")
	root.SetFlagErrorFunc(a.flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	for _, verb := range []interface{ command() *cobra.Command }{
		&initVerb{app: a}, &startVerb{app: a}, &newVerb{app: a}, &runVerb{app: a}, &stopVerb{app: a}, &noteVerb{app: a},
		&approveVerb{app: a}, &rejectVerb{app: a},
		&statusVerb{app: a}, &listVerb{app: a}, &logVerb{app: a}, &showVerb{app: a}, &diffVerb{app: a},
		&switchVerb{app: a}, &resumeVerb{app: a}, &undoVerb{app: a}, &redoVerb{undoVerb{app: a}}, &finishVerb{app: a},
		&abandonVerb{app: a}, &agentVerb{a}, &allowVerb{app: a}, &backupsVerb{app: a}, &budgetVerb{a},
		&checkVerb{app: a}, &checkpointVerb{app: a}, &completionVerb{a}, &configVerb{app: a}, &deleteVerb{app: a},
		&demoVerb{app: a}, &doctorVerb{app: a}, &editVerb{app: a}, &exportVerb{app: a}, &forkVerb{app: a},
		&gcVerb{app: a}, &hookVerb{a}, &importVerb{app: a}, &mcpVerb{app: a}, &oldPhaseVerb{app: a}, &pathVerb{a},
		&reportVerb{app: a}, &statsVerb{a}, &trustVerb{app: a},
		&uiVerb{app: a}, &uninstallVerb{app: a}, &versionVerb{a}, &watchVerb{app: a}, &workflowVerb{a},
	} {
		root.AddCommand(verb.command())
	}
	root.AddCommand(topics()...)
	help := &helpVerb{app: a}
	root.SetHelpCommand(help.command())
	root.SetHelpFunc(help.help)
	return root
}

// notByAgent returns an error if an agent's run calls a command that only people may call.
func (a *app) notByAgent(c *cobra.Command) error {
	a.Verb = asTyped(c)
	if a.env.Get("WFS_RUN_ID") == "" {
		return nil // the parent processes are checked by Locks.Hold later
	}
	if workspace.ForPeople(a.Verb) {
		return workspace.ByAgent(a.Verb)
	}
	return nil
}

// asTyped returns a command's name, such as "wfs run". If one of the flags makes it a command for people only, the name
// includes that flag.
func asTyped(c *cobra.Command) string {
	command := c.CommandPath()
	c.Flags().Visit(func(f *pflag.Flag) {
		if typed := c.CommandPath() + " --" + f.Name; workspace.ForPeople(typed) {
			command = typed
		}
	})
	return command
}

// directory is the value of the flag -C. A relative path starts at the user's directory.
type directory struct {
	from string
	dir  *string
}

func (d *directory) String() string { return "" } // help shows no default value
func (d *directory) Type() string   { return "directory" }
func (d *directory) Set(s string) error {
	if s == "" {
		return nil // like git
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

// flagError returns the error for a bad flag. If a similar flag exists, the hint names it.
func (a *app) flagError(c *cobra.Command, err error) error {
	a.json = a.json || slices.Contains(a.env.Args, "--json") // --json may follow the bad flag, so it is not parsed yet
	e := usage(c.CommandPath()+" --help", "%v", err)
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := spelling.Suggest(unknown.GetSpecifiedName(), names); near != "" {
			e.Hint = fmt.Sprintf("did you mean --%s? %s --help", near, c.CommandPath())
		}
	}
	return e
}

// noArgs returns an error if there are arguments. If the first one resembles a command, the hint names that command.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.HasParent() && !c.HasSubCommands() {
		return usage(c.CommandPath()+" --help", "%s takes no argument, got %q", c.CommandPath(), args[0])
	}
	word := args[0]
	e := usage(strings.Replace(c.CommandPath(), "wfs", "wfs help", 1),
		"unknown command %q for %q", word, c.CommandPath())
	near := c.SuggestionsFor(word)
	if !c.HasParent() {
		e.Hint += " --all"
		near = slices.DeleteFunc(near, func(s string) bool { return slices.Contains(destroying, s) })
		if slices.Contains(reserved, word) {
			e.Message = fmt.Sprintf("%q is reserved: no command has that name yet", word)
			return e
		}
		if same := synonyms[word]; same != "" {
			near = []string{same}
		}
	}
	if len(near) > 0 {
		e.Hint = fmt.Sprintf("did you mean %q?", c.CommandPath()+" "+near[0])
	}
	return e
}

// with makes the function of a verb into one that cobra can call.
func with(run func(context.Context, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error { return run(c.Context(), args) }
}

// upTo returns a check that fails if there are more than n arguments.
func upTo(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return usage(c.CommandPath()+" --help",
				"%s takes at most %d %s, got %d", c.CommandPath(), n, plural(n, "argument", "arguments"), len(args))
		}
		return nil
	}
}

// signals handles interrupts such as Ctrl-C. The first one cancels the context, so that the run stops cleanly. The
// second one kills the run. The third one ends wfs itself.
type signals struct {
	ch    chan os.Signal
	first os.Signal
	hurry chan struct{} // closed by the second interrupt
	// patient is set while a pager has the terminal. The pager gets Ctrl-C as well, so wfs ignores it and waits for the
	// pager.
	patient atomic.Bool
	stop    func()
	stops   atomic.Pointer[func()] // called at the first Ctrl-C
	leave   atomic.Pointer[func()] // tidies up before the third interrupt ends wfs
}

func withSignals(parent context.Context) (context.Context, *signals) {
	ctx, cancel := context.WithCancel(parent)
	s := &signals{ch: make(chan os.Signal, 3), hurry: make(chan struct{})}
	// Without a handler, SIGQUIT (Ctrl-\ in a terminal) would end wfs at once and leave the agent running.
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(sig) { // nohup, and shells that start wfs in the background, set it to be ignored
			signal.Notify(s.ch, sig)
		}
	}
	done := make(chan struct{})
	s.stop = func() { signal.Stop(s.ch); close(done); cancel() }
	go func() {
		for n := 0; ; {
			select {
			case sig := <-s.ch:
				if sig != os.Interrupt || !s.patient.Load() {
					s.heed(n, sig, cancel)
					n++
				}
			case <-done:
				return
			}
		}
	}()
	return ctx, s
}

// heed handles a signal. n is the number of signals before this one.
func (s *signals) heed(n int, sig os.Signal, cancel func()) {
	switch n {
	case 0:
		s.first = sig
		if stops := s.stops.Load(); stops != nil && sig == os.Interrupt {
			(*stops)()
		}
		cancel()
	case 1:
		close(s.hurry)
	default:
		if leave := s.leave.Load(); leave != nil {
			(*leave)()
		}
		os.Exit(s.exitCode())
	}
}

// atFirst registers a function that is called at the first Ctrl-C.
func (s *signals) atFirst(f func()) { s.stops.Store(&f) }

// atExit registers a function that is called before the third interrupt ends the process.
func (s *signals) atExit(f func()) { s.leave.Store(&f) }

// why returns the reason for the interruption, in the words that session events use.
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
