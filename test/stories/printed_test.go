package stories

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// The scripts of TestScripts record each command that wfs prints for people to type ("next:", "hint:", "undo:", …).
// The test then types it in a copy of the state in which it was printed: once in the same directory, and once in
// another work tree of the repository. It must run, and change no session but the one that it was printed for.
// WFS_PRINTED=all types all of them; otherwise one in printedShare is typed.

// printedShare returns n: the ordinary suite types one printed command in n.
func printedShare() uint64 {
	if testkit.AllRows() {
		return 20
	}
	return 60
}

// printedWait limits how long a printed command may take.
const printedWait = 60 * time.Second

// printedFollow limits how long a printed command runs that may rightly run for ever.
const printedFollow = 15 * time.Second

// printed is one wfs command line that printed something to type, and a copy of the state after it.
type printed struct {
	Args     []string
	Dir      string
	Env      []string
	Exit     int
	Hints    []string
	Sessions []string // the sessions that it may have been printed for
	Copy     string   // a copy of the script's directory
}

// printingMain is `wfs` in scripts: it runs the binary, records the commands that it prints for people to type, and
// copies the state.
func printingMain() int {
	wfs, err := onPathAfterThis("wfs")
	if err != nil {
		fmt.Fprintln(os.Stderr, "printed:", err)
		return 70
	}
	args, dir := os.Args[1:], os.Getenv("WFS_PRINTED_DIR")
	if os.Getenv("WFS_TYPED") != "" && len(args) > 0 && args[0] == "run" { // no waiting, one attempt
		args = append([]string{"run", "--no-wait", "--max-attempts", "1"}, args[1:]...)
	}
	if dir == "" || os.Getenv("WFS_RUN_ID") != "" {
		err := syscall.Exec(wfs, append([]string{"wfs"}, args...), foundFirst(wfs))
		fmt.Fprintln(os.Stderr, "printed:", err)
		return 70
	}
	here, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "printed:", err)
		return 70
	}
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "WFS_PRINTED_DIR=") })
	p := printed{Args: args, Dir: here, Env: environ}
	before := currentBranch(p.Dir)
	var out, said bytes.Buffer
	p.Exit = passOn(wfs, args, &out, &said)
	if slices.Contains(p.Args, "--help") || verbOf(p.Args) == "help" {
		return p.Exit // usage, with placeholders in capitals
	}
	p.Hints = slices.DeleteFunc(printedIn(out.String()+"\n"+said.String()), func(hint string) bool {
		return !fresh(dir, fmt.Sprint(verbOf(p.Args), " ", p.Exit, " ", shapeOf(strings.ReplaceAll(hint, os.Getenv("WORK"), "$WORK"))), os.Getenv("WFS_PRINTED"))
	})
	if len(p.Hints) == 0 {
		return p.Exit
	}
	named := ""
	for i, arg := range p.Args {
		if i > 0 && p.Args[i-1] == "-m" { // a text, not a session
			continue
		}
		if id := sessionNamed(strings.SplitN(strings.TrimPrefix(arg, "--session="), "@", 2)[0]); ledgerIn(p.Dir, id) {
			named = id
		}
	}
	if slices.Contains([]string{"new", "fork", "undo", "redo", "config", "workflow"}, verbOf(p.Args)) {
		// these print commands for a session that they find or create
	} else if named != "" {
		p.Sessions = []string{named}
	} else {
		for _, branch := range []string{before, currentBranch(p.Dir)} {
			if id, ok := strings.CutPrefix(branch, "refs/heads/wfs/"); ok && !slices.Contains(p.Sessions, id) {
				p.Sessions = append(p.Sessions, id)
			}
		}
	}
	if err := p.keep(dir, os.Getenv("WORK")); err != nil {
		fmt.Fprintln(os.Stderr, "printed:", err)
		return 70
	}
	return p.Exit
}

// keep copies the script's directory, and writes the record p next to the copy.
func (p *printed) keep(dir, work string) error {
	to, err := os.MkdirTemp(dir, "state-")
	if err != nil {
		return err
	}
	p.Copy = filepath.Join(to, "work")
	if text, err := exec.Command("cp", "-a", work, p.Copy).CombinedOutput(); err != nil {
		return os.WriteFile(filepath.Join(to, "cannot-be-copied"), text, 0o666)
	}
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "printed.json"), data, 0o666)
}

// fresh reports whether a shape is to be typed: it is in the sample, and the first of its kind in this script.
func fresh(dir, shape, which string) bool {
	sum := fnv.New64a()
	io.WriteString(sum, filepath.Base(dir)+"\n"+shape)
	if which == "none" || which != "all" && sum.Sum64()%printedShare() != 0 {
		return false
	}
	return os.Mkdir(filepath.Join(dir, fmt.Sprintf("shape-%x", sum.Sum64())), 0o777) == nil
}

var (
	// printedLine matches lines that consist of something to type, printedInline texts that end in it.
	printedLine   = regexp.MustCompile(`^(?:hint|next|undo|redo|look|  or|to set it back|to take it back|  to take it back|    hint|  hint): (.*)$`)
	printedInline = regexp.MustCompile(`: (\(?(?:cd [^;]* && )?wfs [^;]*)`)
	wayOn         = regexp.MustCompile(`^ +(?:[^ ].*?  +)?((?:\(?cd .*|wfs .*))$`)

	quotedText = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	numbers    = regexp.MustCompile(`[0-9a-f]{7,40}|[0-9]+`)
)

// printedIn returns the hints to type in a command's output.
func printedIn(text string) []string {
	var hints []string
	ways := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "{") || strings.HasPrefix(line, " ") && strings.Contains(line, `": `) {
			continue // JSON
		}
		if strings.HasPrefix(line, "then: ") && len(hints) > 0 { // follows the command to type before it
			hints = append(hints, hints[len(hints)-1]+" && "+strings.TrimPrefix(line, "then: "))
			continue
		}
		switch m := printedLine.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "undo: ") && !strings.Contains(line, "wfs "), strings.HasPrefix(line, "redo: ") && !strings.Contains(line, "wfs "):
			// describes the effect of an undo, not a command
		case m != nil && !strings.HasPrefix(line, "error: "):
			hints = append(hints, strings.Split(strings.ReplaceAll(m[1], "   then: ", "   or: "), "   or: ")...)
		case line == "ways on":
			ways = true
		case ways && wayOn.MatchString(line):
			hints = append(hints, wayOn.FindStringSubmatch(line)[1])
		case !strings.HasPrefix(line, "error: "):
			if m := printedInline.FindStringSubmatch(line); m != nil {
				hints = append(hints, m[1])
			}
		}
	}
	return hints
}

// shapeOf returns a hint without the parts that differ from one session to the next.
func shapeOf(hint string) string {
	hint = quotedText.ReplaceAllString(hint, `"…"`)
	return numbers.ReplaceAllString(hint, "N")
}

func verbOf(args []string) string {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") && (i == 0 || args[i-1] != "-C") {
			return arg
		}
	}
	return ""
}

func currentBranch(dir string) string {
	out, _ := exec.Command("git", "-C", dir, "symbolic-ref", "-q", "HEAD").Output()
	return strings.TrimSpace(string(out))
}

// sessionNamed returns the id of the session that a full name means: its id, WFS-<id>, or its branch.
func sessionNamed(name string) string {
	id := strings.ToLower(name)
	if rest, ok := strings.CutPrefix(id, "wfs-"); ok && rest != "" {
		id = rest
	}
	return strings.TrimPrefix(id, "wfs/")
}

var sessionID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

func ledgerIn(dir, id string) bool {
	return sessionID.MatchString(id) && exec.Command("git", "-C", dir, "rev-parse", "-q", "--verify", "refs/wfs/"+id+"/ledger").Run() == nil
}

// placeholders replaces the words that people replace by their own with values that the test types.
var placeholders = strings.NewReplacer(
	"'ANOTHER COMMAND'", "true", "'COMMAND'", "true", "--agent NAME", "--agent true", "--branch NAME", "--branch named-here", "-c NAME", "-c named-here",
	"-m TEXT", "-m text", "--holdout DIR", "--holdout none", "GOAL", "goal", "--dir ANOTHER", "--dir ../another-dir", "ANOTHER-FILE", "another-file",
	"CHECKPOINT", "0", "-o FILE", "-o some-file", "--allow COMMAND", "--allow 'go vet'", "--format FORMAT", "--format go-test-json", "BRANCH", "main",
)

// saidInWords lists hints, or parts of them, that are instructions to a person and not shell commands.
var saidInWords = []string{
	"type more of", "move them aside", "type it again", "to have them judged", "to set them aside", "to continue here", "bring it back",
	"if it was moved: git worktree repair NEW-PATH", "add what the tests make",
	"take the workflow loop", "pnpm install", "if it was moved: git -C NEW-PATH",
	"finish it", "abort it: git status says how", "your signing says", "mend ", "look at them", "when origin can be reached", "edit .wfs/config.yaml",
	"set XDG_STATE_HOME to", "name another", "write review:", "commit them first", "let worktree: setup", "instead of copy", "link",
	"and merge it", "into the repository", "cd into", "others stand under", "did you mean", "claude auth login", "fake login", "make it run here", "install",
	"write one under gates:", "run it again", "fix that",
	"fix worktree: setup",
}

// typedCommand is one command to type. If after is set, a person must do something first.
type typedCommand struct {
	line  string
	after bool
}

var (
	within   = regexp.MustCompile(` \((?:or|it|wfs|your|says|another|they|take|installed|a|once|to)\b[^()]*\)`)
	aside    = regexp.MustCompile(`\s+\([^()]*\)\s*$`)
	cdOnly   = regexp.MustCompile(`^cd (?:[^ ]+|"[^"]*")(?: && (?:wfs|git|cd) .*)?$`)
	orElse   = regexp.MustCompile(`(?:; |, )?\bor:? |; `)
	firstTwo = regexp.MustCompile(`^\(?(?:wfs|git|cd|mkdir|mv|rm|printf|umount|ln|cp|export|unset|chmod)\b`)
)

// commandsIn splits a hint into the commands in it and the remaining words.
func commandsIn(hint string) (commands []typedCommand, words []string) {
	hint = within.ReplaceAllString(hint, "")
	in := ""
	if m := regexp.MustCompile(`^cd \S+ && `).FindString(hint); m != "" && !strings.HasPrefix(hint[len(m):], "cd ") {
		in = m
	}
	for _, one := range splitOutside(aside.ReplaceAllString(hint, ""), orElse) {
		var line []string
		after := false
		for _, step := range splitOutside(one, regexp.MustCompile(`, (?:and )?then |, `)) {
			step = strings.TrimSpace(aside.ReplaceAllString(step, ""))
			switch {
			case step == "":
			case strings.HasPrefix(step, "cd ") && !cdOnly.MatchString(step):
				words = append(words, strings.TrimPrefix(step, regexp.MustCompile(`^cd [^ ]+ && `).FindString(step)))
				after = true
			case firstTwo.MatchString(step):
				line = append(line, step)
			case len(line) == 0:
				after = true
				words = append(words, step)
			default:
				words = append(words, step)
			}
		}
		if len(line) > 0 {
			text := strings.Join(line, " && ")
			if !strings.HasPrefix(text, in) {
				text = in + text
			}
			commands = append(commands, typedCommand{placeholders.Replace(text), after})
		}
	}
	return commands, words
}

// splitOutside splits a text at a pattern, but not inside quotes.
func splitOutside(text string, at *regexp.Regexp) []string {
	var held []string
	hidden := quotedText.ReplaceAllStringFunc(text, func(q string) string {
		held = append(held, q)
		return fmt.Sprintf("\x00%d\x00", len(held)-1)
	})
	parts := at.Split(hidden, -1)
	for i := range parts {
		for n, q := range held {
			parts[i] = strings.ReplaceAll(parts[i], fmt.Sprintf("\x00%d\x00", n), q)
		}
	}
	return parts
}

// typePrinted types the commands that a script's commands printed. dir has the copies, work is the script's directory.
func typePrinted(t testing.TB, dir, work string) {
	states, err := filepath.Glob(filepath.Join(dir, "state-*", "printed.json"))
	if err != nil || len(states) == 0 || t.Failed() {
		return
	}
	aside := work + ".aside"
	if err := os.Rename(work, aside); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(removeTree(work), os.Rename(aside, work)); err != nil {
			t.Error(err)
		}
	}()
	for _, name := range states {
		data, err := os.ReadFile(name)
		var p printed
		if err == nil {
			err = json.Unmarshal(data, &p)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, hint := range p.Hints {
			commands, words := commandsIn(hint)
			for _, w := range words {
				if !slices.ContainsFunc(saidInWords, func(known string) bool { return strings.HasPrefix(w, known) }) {
					t.Errorf("wfs %s printed words that saidInWords does not list: %q, in %q", strings.Join(p.Args, " "), w, hint)
				}
			}
			for _, c := range commands {
				for _, elsewhere := range []bool{false, true} {
					if wrong := p.try(work, c, elsewhere); wrong != "" {
						place := "there"
						if elsewhere {
							place = "in another work tree"
						}
						t.Errorf("wfs %s (exit %d) printed, for %v: %s\ntyped %s: %s\n%s", strings.Join(p.Args, " "), p.Exit, p.Sessions, hint, place, c.line, wrong)
					}
				}
			}
		}
	}
}

// try types a command in a copy of the state. It returns a description of the failure, "" when there is none.
func (p *printed) try(work string, c typedCommand, elsewhere bool) string {
	if err := removeTree(work); err != nil {
		return err.Error()
	}
	if text, err := exec.Command("cp", "-a", p.Copy, work).CombinedOutput(); err != nil {
		return string(text)
	}
	from := p.Dir
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return "" // the command removed the work tree
	}
	if elsewhere {
		if slices.ContainsFunc(strings.Fields(c.line), func(w string) bool { return w == "--carry" || w == "--leave" }) {
			return "" // it answers what is to become of the files that are here
		}
		if actsOnWorkTree(c.line) && !strings.Contains(c.line, "cd ") && len(linkedTrees(from)) == 0 {
			return "" // there was no other work tree to type it in
		}
		other := filepath.Join(work, "typed-elsewhere")
		add := exec.Command("git", "-C", from, "worktree", "add", "-q", "-b", "typed-elsewhere", other)
		add.Env = p.Env
		if add.Run() != nil { // no repository, or one in which git does not work
			return ""
		}
		from = other
	}
	before, beforehand := sessionMarks(from), currentBranch(from)
	wait := printedWait
	if follows.MatchString(c.line) {
		wait = printedFollow
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	typed := exec.CommandContext(ctx, "sh", "-c", c.line)
	typed.Dir, typed.Env, typed.WaitDelay = from, append(p.Env, "WFS_TYPED=1", "PWD="+from), time.Second
	out, err := typed.CombinedOutput()
	exit := 0
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		exit = failed.ExitCode()
	} else if err != nil {
		return err.Error()
	}
	if ctx.Err() != nil && wait == printedFollow {
		return "" // correct: an agent of the script works for ever, or the followed session has no run in progress
	}
	if ctx.Err() != nil {
		return "it does not end:\n" + string(out)
	}
	after := sessionMarks(from)
	if exit != 0 && maps.Equal(before, after) && !strings.Contains(c.line, "wfs run") && !strings.Contains(string(out), "no process holds it") && !reports.MatchString(c.line) && slices.Contains(printedIn(string(out)), c.line) {
		return fmt.Sprintf("it leads back to itself: exit %d:\n%s", exit, out)
	}
	if exit != 0 && slices.ContainsFunc(refusedRightly, func(why string) bool { return strings.Contains(string(out), why) }) {
		return ""
	}
	if !c.does(exit) {
		return fmt.Sprintf("exit %d:\n%s", exit, out)
	}
	for id, mark := range after {
		if "refs/heads/wfs/"+id == beforehand && leaves.MatchString(c.line) {
			continue // wfs saved its edits when it was left
		}
		if old, there := before[id]; there && old != mark && len(p.Sessions) > 0 && !slices.Contains(p.Sessions, id) {
			return fmt.Sprintf("it changed %s:\n%s", id, out)
		}
	}
	return ""
}

// drives matches the verbs whose exit code tells the session's state afterwards.
var drives = regexp.MustCompile(`\bwfs (run|start|approve|reject|phase|finish)\b`)

// refusedRightly lists the accepted reasons for refusing a printed command: the obstacle is outside the session, and
// the refusal names another command.
var refusedRightly = []string{
	"cannot work here: there is no program", "gate tests could not run (exit code 127)", "a merge is in progress", "not a valid object name: 'HEAD'",
	"no branch of yours has", "is gone; its checkpoints are not", "no test command configured", "exists already", "git cannot have a branch", "no process holds it", "unresolved conflict",
}

// asks matches the verbs that need a person at a terminal, reports those whose exit code tells their findings.
var (
	asks    = regexp.MustCompile(`\bwfs (trust|new|repin)\b`)
	reports = regexp.MustCompile(`\bwfs (doctor|workflow check|agent check|watch)\b`)
)

// does reports whether this exit code is right for the command.
func (c typedCommand) does(exit int) bool {
	switch exit {
	case testkit.ExitOK:
		return true
	case testkit.ExitDecision, testkit.ExitBlocked, testkit.ExitWaiting:
		return drives.MatchString(c.line) || asks.MatchString(c.line) || reports.MatchString(c.line) || c.after
	case testkit.ExitUsage:
		return reports.MatchString(c.line)
	case 127, 126:
		return false
	case 137: // killed by the agent of the script
		return drives.MatchString(c.line)
	}
	return reports.MatchString(c.line) || c.after
}

var (
	// follows matches commands that drive or follow runs, leaves those that move a work tree to another session.
	follows = regexp.MustCompile(`\bwfs (run|watch|approve|reject)\b`)
	leaves  = regexp.MustCompile(`\bwfs (resume|switch|new|fork|undo|redo)\b`)
)

// sessionMarks returns a value for each session that differs when the session has changed.
func sessionMarks(dir string) map[string]string {
	marks := map[string]string{}
	out, _ := exec.Command("git", "-C", dir, "for-each-ref", "--format=%(refname) %(objectname)", "refs/wfs").Output()
	common, _ := exec.Command("git", "-C", dir, "rev-parse", "--path-format=absolute", "--git-common-dir").Output()
	for line := range strings.Lines(string(out)) {
		ref, tip, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, isLedger := strings.CutSuffix(strings.TrimPrefix(ref, "refs/wfs/"), "/ledger")
		if !isLedger {
			continue
		}
		mark := tip
		filepath.WalkDir(filepath.Join(strings.TrimSpace(string(common)), "wfs", "sessions", name), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && (strings.Contains(path, "journal") || strings.Contains(path, "inbox")) {
				data, _ := os.ReadFile(path)
				mark += fmt.Sprintf(" %s %d", filepath.Base(path), len(data))
			}
			return nil
		})
		marks[name] = mark
	}
	return marks
}

func linkedTrees(dir string) []string {
	out, _ := exec.Command("git", "-C", dir, "worktree", "list", "--porcelain").Output()
	return strings.Split(strings.TrimSpace(string(out)), "\n\n")[1:]
}

// removeTree is os.RemoveAll for trees with directories that are not writable.
func removeTree(dir string) error {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(path, 0o777)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// passOn runs the binary in place of this process, and also copies its output to out and said, except output to a
// terminal or another device. It returns the exit code.
func passOn(wfs string, args []string, out, said io.Writer) int {
	cmd := exec.Command(wfs, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = foundFirst(wfs), os.Stdin, os.Stdout, os.Stderr
	if !isDevice(os.Stdout) {
		cmd.Stdout = io.MultiWriter(os.Stdout, out)
	}
	if !isDevice(os.Stderr) {
		cmd.Stderr = io.MultiWriter(os.Stderr, said)
	}
	cmd.WaitDelay = time.Second // its background processes may hold its output open
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "printed:", err)
		return 70
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	_ = cmd.Wait()
	if died, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && died.Signaled() {
		return 128 + int(died.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

func isDevice(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// foundFirst returns the environment for the binary, in which it finds itself on the PATH, as it does for people.
func foundFirst(wfs string) []string {
	return append(os.Environ(), "PATH="+filepath.Dir(wfs)+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// onlyThere matches commands that act on the work tree in which they are typed.
var onlyThere = regexp.MustCompile(`\bwfs (hook install|hook remove|init|switch|undo --list)\b|\bgit (add|checkout|commit|merge|rebase|reset|restore|rm|stash|status|switch)\b`)

// actsOnWorkTree reports whether a command acts on the work tree in which it is typed.
func actsOnWorkTree(line string) bool {
	return !strings.HasSuffix(line, " --help") && !strings.HasPrefix(line, "cd ") && onlyThere.MatchString(quotedText.ReplaceAllString(line, `""`))
}
