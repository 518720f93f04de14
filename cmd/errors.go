package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// Exit codes. They are part of the interface: docs/formats.md lists them.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitDecision    = 3 // a person has to decide, or to trust
	exitBlocked     = 4 // breaker, gate, runner, survivors, conflict, nothing green
	exitHeld        = 5 // another process holds it
	exitWaiting     = 75
	exitInterrupted = 130
	exitTerminated  = 143
)

// usageError is a command line that cannot be meant.
type usageError struct{ message, hint string }

func (e *usageError) Error() string { return e.message }

// quietExit ends the program with a code and says nothing more: everything is said already.
type quietExit struct{ code int }

func (e *quietExit) Error() string { return fmt.Sprintf("exit %d", e.code) }

func exitWith(code int) error {
	if code == exitOK {
		return nil
	}
	return &quietExit{code}
}

// refusals is the one table from refusals to exit codes.
var refusals = map[session.RefusalCode]int{
	session.RefuseUsage: exitUsage, session.RefuseNoSession: exitUsage, session.RefuseAmbiguous: exitUsage,
	session.RefuseNoSuchCP: exitUsage, session.RefuseDirty: exitDecision, session.RefuseSameSpec: exitDecision, session.RefuseUntrusted: exitDecision,
	session.RefuseNotGreen: exitBlocked, session.RefuseNotAgreed: exitBlocked, session.RefuseBaseline: exitBlocked, session.RefuseUnbuilt: exitBlocked, session.RefuseConflict: exitBlocked,
	session.RefuseHook: exitBlocked, session.RefuseNotMerged: exitDecision, session.RefuseSetup: exitBlocked,
	session.RefuseSurvivors: exitBlocked, session.RefuseName: exitDecision, session.RefuseDriven: exitHeld,
}

// readyHints are the remedies for a repository that cannot be written to now.
var readyHints = map[string]string{
	gitstate.NotCommitted:  "git commit --allow-empty -m start",
	gitstate.NotBorn:       "git switch BRANCH, or git commit --allow-empty -m start",
	gitstate.NotOnBranch:   "git switch BRANCH (or git switch -c NAME)",
	gitstate.NotDone:       "finish it, or abort it: git status says how",
	gitstate.NotMerged:     "git status, then git add the files that you have resolved",
	gitstate.NotIdentified: `git config --global user.name "Your Name" && git config --global user.email you@example.com`,
	gitstate.NotNamespace:  "git branch -m wfs another-name",
	gitstate.NotExcludes:   "git config --show-origin core.excludesFile, and fix it",
	gitstate.NotWhole:      "mv .git/index .git/index.damaged && git reset (your files stay; staged changes are in the damaged index)",
}

// failure is an error as people and scripts see it.
type failure struct {
	Version int    `json:"version"`
	Error   string `json:"error"`
	Code    string `json:"code"`
	Hint    string `json:"hint,omitempty"`
	Exit    int    `json:"exit"`

	Recovered []recoveredJSON `json:"recovered,omitempty"`
}

// diagnose is the function of that name, and knows which signal interrupted this process, and where it was typed.
func (a *app) diagnose(err error) failure {
	f := diagnose(err)
	if f.Code == string(session.RefuseNoSession) && f.Hint == "" {
		f.Hint = a.pickHint(context.Background())
	}
	var lost *session.NoLedgerError
	if errors.As(err, &lost) {
		f.Code, f.Hint = "no_ledger", a.ledgerHint(lost.ID)
	}
	var found *workspace.FindingsError
	if errors.As(err, &found) && f.Code == "rules" && f.Hint == "" {
		f.Hint = found.Hint(a.again() + " --agent " + a.someAgent())
	} else if f.Hint != "" {
		f.Hint = a.typed(f.Hint)
	}
	again, half := a.again(), (*engine.HalfWayError)(nil)
	if errors.As(err, &half) { // typed again, an undo would take one more operation back
		again = a.typed(half.Completes)
	}
	var locked *gitstate.LockedError
	if f.Code == "locked" && errors.As(err, &locked) {
		f.Hint = lockedHint(locked, again)
	}
	if f.Code == "disk_full" {
		f.Hint = fmt.Sprintf("free some disk space (df -h .), then %s: nothing was lost", again)
	}
	if failed := (*engine.MoveFailedError)(nil); f.Code == "move_failed" && errors.As(err, &failed) {
		f.Hint = moveFailedHint(failed, a.again())
	}
	if absent := (*gitstate.AbsentError)(nil); f.Code == "absent" && errors.As(err, &absent) {
		f.Hint = absentHint(absent, a.again())
	}
	if half != nil && f.Hint == "" {
		f.Hint = again
	}
	if f.Code == "not_a_repository" {
		if root, was := gitstate.LostRepository(a.env.Dir); was != "" {
			f.Error += fmt.Sprintf("; it is a linked work tree, and its repository was %s, which no longer exists", was)
			f.Hint = fmt.Sprintf("if it was moved: git -C NEW-PATH worktree repair %s", shellWord(root))
		}
	}
	if f.Code == "interrupted" {
		if f.Error == context.Canceled.Error() {
			f.Error = "interrupted"
		}
		f.Exit = a.signals.exitCode()
	}
	return f
}

// diagnose turns any error into what is shown and the exit code.
func diagnose(err error) failure {
	f := failure{Version: jsonVersion, Error: err.Error(), Code: "error", Exit: exitError}
	var (
		refusal *session.Refusal
		usage   *usageError
		ready   *gitstate.ReadyError
		locked  *gitstate.LockedError
		held    *registry.HeldError
		hook    *gitstate.HookChangedError
		found   *workspace.FindingsError
		git     *gitstate.GitError
		ran     *ranError
		failed  *engine.MoveFailedError
		absent  *gitstate.AbsentError
		mounted *gitstate.MountedError

		unusable *gitstate.UnusableError
		output   *outputError
	)
	switch {
	case errors.As(err, &output):
		f.Error, f.Code = output.Error(), "output"
	case diskFull(err) && !errors.As(err, &failed): // of a move it is told what has become of the files
		f.Error = isFull + f.Error
		f.Code, f.Hint = "disk_full", "free some disk space (df -h .), then run it again: nothing was lost"
	case errors.As(err, &refusal):
		f.Code, f.Hint, f.Exit = string(refusal.Code), refusal.Hint, exitError
		if code, ok := refusals[refusal.Code]; ok {
			f.Exit = code
		}
	case errors.As(err, &ran):
		f.Exit = ran.exit
	case errors.As(err, &usage):
		f.Code, f.Hint, f.Exit = "usage", usage.hint, exitUsage
	case errors.As(err, &held):
		f.Code, f.Exit, f.Hint = "held", exitHeld, "wfs status"
		if workspace.IsRun(held.Holder) {
			f.Hint = strings.TrimSpace("wfs watch " + held.Holder.Session)
		}
	case errors.As(err, &locked):
		f.Code, f.Exit = "locked", exitHeld
	case errors.As(err, &found):
		f.Code, f.Hint, f.Exit = "rules", found.Hint(""), exitUsage
	case errors.As(err, &hook):
		f.Code, f.Hint, f.Exit = string(session.RefuseHook), "run the hook, then wfs run to judge its changes, then wfs finish", exitBlocked
	case errors.As(err, &git) && len(git.Args) > 0 && git.Args[0] == "commit":
		f.Code, f.Hint, f.Exit = string(session.RefuseHook), "fix what your hook or signing reports, then wfs finish", exitBlocked
	case errors.Is(err, gitstate.ErrBranchInUse):
		f.Code, f.Hint = string(session.RefuseBranch), "wfs finish --branch NAME"
	case errors.Is(err, gitstate.ErrGone):
		f.Code, f.Hint = "gone", "restore it from a backup or another clone: git clone REMOTE, then move its .git here"
	case errors.Is(err, durable.ErrReplaced):
		f.Code, f.Hint = "replaced", "the checkpoints are in git, and your files as they are: wfs status, then wfs run"
	case errors.Is(err, gitstate.ErrMoved):
		f.Code, f.Hint = string(session.RefuseMoved), "wfs status, then run it again"
	case errors.Is(err, gitstate.ErrInTheWay):
		f.Code, f.Hint = string(session.RefuseInTheWay), "move them aside, then run it again"
	case errors.As(err, &failed):
		f.Code, f.Hint = "move_failed", moveFailedHint(failed, "run it again")
		if diskFull(err) {
			f.Error = isFull + f.Error
		}
	case errors.As(err, &absent):
		f.Code, f.Hint = "absent", absentHint(absent, "run it again")
	case errors.As(err, &mounted):
		f.Code, f.Hint = string(session.RefuseInTheWay), "umount "+mounted.Path+", then run it again"
	case errors.Is(err, gitstate.ErrOverlap):
		f.Code, f.Hint, f.Exit = "overlap", "wfs finish", exitBlocked
	case errors.As(err, &ready):
		f.Code, f.Hint = string(ready.Code), readyHints[string(ready.Code)]
		if ready.Code == gitstate.NotIdentified { // it stops a handover alone
			f.Exit = exitBlocked
		}
	case errors.Is(err, gitstate.ErrNotRepository):
		f.Code, f.Hint, f.Exit = "not_a_repository", "git init, or cd into a repository", exitError
	case errors.As(err, &unusable):
		f.Code, f.Hint = "unusable", cmp.Or(unusable.Hint, "fix it until git status works here")
	case errors.Is(err, gitstate.ErrNoWorkTree):
		f.Code, f.Hint = "bare", "cd to the files of the repository: git worktree list"
	case errors.Is(err, gitstate.ErrBare):
		f.Code, f.Hint = "bare", "git worktree add ../work && cd ../work"
	case errors.Is(err, gitstate.ErrNoGit), errors.Is(err, gitstate.ErrGitTooOld):
		f.Code, f.Hint = "git", "install git 2.34 or newer"
	case errors.Is(err, session.ErrNewer), errors.Is(err, workflows.ErrNewer):
		f.Code, f.Hint = "newer", "install that version; this one is: wfs --version"
	case errors.Is(err, durable.ErrNotPrivate):
		f.Code, f.Hint = "not_private", "wfs doctor"
	case errors.Is(err, durable.ErrNoLocks):
		f.Code, f.Hint = "no_locks", "clone the repository onto a local disk: git clone . DIRECTORY"
	case damaged(err):
		f.Code, f.Hint = "corrupt", "wfs doctor"
	case errors.Is(err, context.Canceled):
		f.Code, f.Exit = "interrupted", exitInterrupted
	}
	return f
}

const isFull = "the disk is full, or your quota is used up: "

// diskFull reports whether an error, or git's own word for it, says that nothing more can be stored.
func diskFull(err error) bool {
	var git *gitstate.GitError
	said := errors.As(err, &git) && slices.ContainsFunc([]string{"No space left on device", "Disk quota exceeded", "Out of diskspace"},
		func(word string) bool { return strings.Contains(git.Stderr, word) })
	return said || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// damaged reports whether an error is about state that cannot be used as it is: the doctor says which, and what to do.
func damaged(err error) bool {
	for _, kind := range []error{registry.ErrCorrupt, session.ErrBadLine, engine.ErrUnreadable, gitstate.ErrBrokenRef, gitstate.ErrNoObject,
		durable.ErrNotRegular, durable.ErrTooLarge, durable.ErrReplaced} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// print shows an error: one clear line, and the next command to type.
func (f failure) print(a *app) {
	if a.json {
		f.Recovered = a.done
		data, err := json.Marshal(f)
		if err == nil {
			fmt.Fprintln(a.env.Stderr, string(data))
		}
		return
	}
	fmt.Fprintln(a.env.Stderr, a.wrapped("error: "+strings.TrimSpace(safetext.Strip(f.Error)), a.env.StderrTTY, 0))
	if f.Hint != "" {
		fmt.Fprintln(a.env.Stderr, "hint:", safetext.Strip(f.Hint))
	}
}
