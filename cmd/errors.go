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

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/durable"
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
	present.Failure
	Recovered []recoveredJSON `json:"recovered,omitempty"`

	again   string // the command to type again
	asTyped string // a hint that holds it
}

// rule is how one kind of error is shown. It returns false for others.
type rule func(a *app, err error, f *failure) bool

// kind is the rule for errors of a type. tell adds what only such an error knows, nil for nothing.
func kind[T error](code string, exit int, tell func(a *app, f *failure, e T)) rule {
	return func(a *app, err error, f *failure) bool {
		var e T
		if !errors.As(err, &e) {
			return false
		}
		f.Code, f.Exit = code, exit
		if tell != nil {
			tell(a, f, e)
		}
		return true
	}
}

// cause is the rule for errors that have one of these causes.
func cause(code string, exit int, hint string, causes ...error) rule {
	return func(_ *app, err error, f *failure) bool {
		if !slices.ContainsFunc(causes, func(c error) bool { return errors.Is(err, c) }) {
			return false
		}
		f.Code, f.Exit, f.Hint = code, exit, hint
		return true
	}
}

// rules are the one table from errors to what is shown and the exit code. The first that fits counts.
var rules = []rule{
	kind("output", exitError, func(_ *app, f *failure, e *outputError) { f.Error = e.Error() }),
	func(_ *app, err error, f *failure) bool {
		var failed *engine.MoveFailedError // which tells what has become of the files
		if !diskFull(err) {
			return false
		}
		f.Error = "the disk is full, or your quota is used up: " + f.Error
		if errors.As(err, &failed) {
			return false
		}
		f.Code, f.asTyped = "disk_full", fmt.Sprintf("free some disk space (df -h .), then %s: nothing was lost", f.again)
		return true
	},
	kind("no_ledger", exitError, func(a *app, f *failure, e *session.NoLedgerError) { f.Hint = a.ledgerHint(e.ID) }),
	kind("", exitError, func(_ *app, f *failure, e *session.Refusal) {
		f.Code, f.Hint, f.Exit = string(e.Code), e.Hint, cmp.Or(refusals[e.Code], exitError)
	}),
	kind("error", exitError, func(_ *app, f *failure, e *ranError) { f.Exit = e.exit }),
	kind("usage", exitUsage, func(_ *app, f *failure, e *usageError) { f.Hint = e.hint }),
	kind("held", exitHeld, func(_ *app, f *failure, e *registry.HeldError) {
		f.Hint = "wfs status"
		if workspace.IsRun(e.Holder) {
			f.Hint = strings.TrimSpace("wfs watch " + e.Holder.Session)
		}
	}),
	kind("locked", exitHeld, func(_ *app, f *failure, e *gitstate.LockedError) { f.asTyped = lockedHint(e, f.again) }),
	kind("rules", exitUsage, func(a *app, f *failure, e *workspace.FindingsError) {
		f.Hint = e.Hint(a.again() + " --agent " + a.someAgent())
	}),
	kind(string(session.RefuseHook), exitBlocked, func(_ *app, f *failure, _ *gitstate.HookChangedError) {
		f.Hint = "run the hook, then wfs run to judge its changes, then wfs finish"
	}),
	func(_ *app, err error, f *failure) bool {
		var git *gitstate.GitError
		if !errors.As(err, &git) || len(git.Args) == 0 || git.Args[0] != "commit" {
			return false
		}
		f.Code, f.Hint, f.Exit = string(session.RefuseHook), "fix what your hook or signing reports, then wfs finish", exitBlocked
		return true
	},
	cause(string(session.RefuseBranch), exitError, "wfs finish --branch NAME", gitstate.ErrBranchInUse),
	cause("gone", exitError, "restore it from a backup or another clone: git clone REMOTE, then move its .git here", gitstate.ErrGone),
	cause("replaced", exitError, "the checkpoints are in git, and your files as they are: wfs status, then wfs run", durable.ErrReplaced),
	cause(string(session.RefuseMoved), exitError, "wfs status, then run it again", gitstate.ErrMoved),
	cause(string(session.RefuseInTheWay), exitError, "move them aside, then run it again", gitstate.ErrInTheWay),
	kind("move_failed", exitError, func(a *app, f *failure, e *engine.MoveFailedError) { f.asTyped = moveFailedHint(e, a.again()) }),
	kind("absent", exitError, func(a *app, f *failure, e *gitstate.AbsentError) { f.asTyped = absentHint(e, a.again()) }),
	kind(string(session.RefuseInTheWay), exitError, func(_ *app, f *failure, e *gitstate.MountedError) {
		f.Hint = "umount " + e.Path + ", then run it again"
	}),
	cause("overlap", exitBlocked, "wfs finish", gitstate.ErrOverlap),
	kind("", exitError, func(_ *app, f *failure, e *gitstate.ReadyError) {
		f.Code, f.Hint = e.Code, readyHints[e.Code]
		if e.Code == gitstate.NotIdentified { // it stops a handover alone
			f.Exit = exitBlocked
		}
	}),
	func(a *app, err error, f *failure) bool {
		if !errors.Is(err, gitstate.ErrNotRepository) {
			return false
		}
		f.Code, f.Hint = "not_a_repository", "git init, or cd into a repository"
		if root, was := gitstate.LostRepository(a.env.Dir); was != "" {
			f.Error += fmt.Sprintf("; it is a linked work tree, and its repository was %s, which no longer exists", was)
			f.Hint = fmt.Sprintf("if it was moved: git -C NEW-PATH worktree repair %s", shellWord(root))
		}
		return true
	},
	kind("unusable", exitError, func(_ *app, f *failure, e *gitstate.UnusableError) {
		f.Hint = cmp.Or(e.Hint, "fix it until git status works here")
	}),
	cause("bare", exitError, "cd to the files of the repository: git worktree list", gitstate.ErrNoWorkTree),
	cause("bare", exitError, "git worktree add ../work && cd ../work", gitstate.ErrBare),
	cause("git", exitError, "install git 2.34 or newer", gitstate.ErrNoGit, gitstate.ErrGitTooOld),
	cause("newer", exitError, "install that version; this one is: wfs --version", session.ErrNewer, workflows.ErrNewer),
	cause("not_private", exitError, "wfs doctor", durable.ErrNotPrivate),
	cause("no_locks", exitError, "clone the repository onto a local disk: git clone . DIRECTORY", durable.ErrNoLocks),
	// State that cannot be used as it is: the doctor says which, and what to do.
	cause("corrupt", exitError, "wfs doctor", registry.ErrCorrupt, session.ErrBadLine, engine.ErrUnreadable, gitstate.ErrBrokenRef,
		gitstate.ErrNoObject, durable.ErrNotRegular, durable.ErrTooLarge),
	func(a *app, err error, f *failure) bool {
		if !errors.Is(err, context.Canceled) {
			return false
		}
		if f.Error == context.Canceled.Error() {
			f.Error = "interrupted"
		}
		f.Code, f.Exit = "interrupted", a.signals.exitCode()
		return true
	},
}

// diagnose turns any error into what is shown and the exit code.
func (a *app) diagnose(err error) failure {
	f := failure{Failure: present.Failure{Version: jsonVersion, Error: err.Error(), Code: "error", Exit: exitError}, again: a.again()}
	var half *engine.HalfWayError
	if errors.As(err, &half) { // typed again, an undo would take one more operation back
		f.again = a.typed(half.Completes)
	}
	for _, shows := range rules {
		if shows(a, err, &f) {
			break
		}
	}
	if f.Code == string(session.RefuseNoSession) && f.Hint == "" {
		f.Hint = a.pickHint(context.Background())
	}
	switch {
	case f.Hint != "":
		f.Hint = a.typed(f.Hint)
	case f.asTyped != "":
		f.Hint = f.asTyped
	case half != nil:
		f.Hint = f.again
	}
	return f
}

// diskFull reports whether an error, or git's own word for it, says that nothing more can be stored.
func diskFull(err error) bool {
	var git *gitstate.GitError
	said := errors.As(err, &git) && slices.ContainsFunc([]string{"No space left on device", "Disk quota exceeded", "Out of diskspace"},
		func(word string) bool { return strings.Contains(git.Stderr, word) })
	return said || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
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
	a.env.Fail(f.Error, f.Hint)
}
