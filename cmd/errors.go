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
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/gitstate/checkout"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/workflows/plans"
	"github.com/wfs-dev/wfs/workspace"
)

// Exit codes of wfs. Scripts rely on them; docs/formats.md lists them.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitDecision    = 3 // a decision or trust is needed
	exitBlocked     = 4 // breaker, gate, runner, survivors, conflict, no passing checkpoint
	exitHeld        = 5 // another process holds the lock
	exitWaiting     = 75
	exitInterrupted = 130
	exitTerminated  = 143
)

// usage returns a usage error.
func usage(hint, format string, args ...any) *session.Refusal {
	return session.Refuse(session.RefuseUsage, hint, format, args...)
}

// quietExit is an error that only sets the exit code. Nothing is printed for it, because the command has printed
// everything already.
type quietExit struct{ code int }

func (e *quietExit) Error() string { return fmt.Sprintf("exit %d", e.code) }

func exitWith(code int) error {
	if code == exitOK {
		return nil
	}
	return &quietExit{code}
}

// refusals maps the codes of refusals to exit codes.
var refusals = map[session.RefusalCode]int{
	session.RefuseUsage: exitUsage, session.RefuseNoSession: exitUsage, session.RefuseAmbiguous: exitUsage,
	session.RefuseNoSuchCP: exitUsage, session.RefuseDirty: exitDecision, session.RefuseSameSpec: exitDecision,
	session.RefuseUntrusted: exitDecision,
	session.RefuseNotGreen:  exitBlocked, session.RefuseNotAgreed: exitBlocked, session.RefuseBaseline: exitBlocked,
	session.RefuseUnbuilt: exitBlocked, session.RefuseConflict: exitBlocked,
	session.RefuseHook: exitBlocked, session.RefuseNotMerged: exitDecision, session.RefuseSetup: exitBlocked,
	session.RefuseSurvivors: exitBlocked, session.RefuseName: exitDecision, session.RefuseDriven: exitHeld,
}

// readyHints are the hints for a repository in which wfs cannot write at the moment.
var readyHints = map[string]string{
	gitcmd.NotCommitted:  "git add -A && git commit --allow-empty -m start",
	gitcmd.NotBorn:       "git switch BRANCH, or git commit --allow-empty -m start",
	gitcmd.NotOnBranch:   "git switch BRANCH (or git switch -c NAME)",
	gitcmd.NotDone:       "finish it, or abort it: git status says how",
	gitcmd.NotMerged:     "git status, then git add the files that you have resolved",
	gitcmd.NotIdentified: `git config --global user.name "Your Name" && git config --global user.email you@example.com`,
	gitcmd.NotNamespace:  "git branch -m wfs another-name",
	gitcmd.NotExcludes:   "git config --show-origin core.excludesFile, and fix it",
	gitcmd.NotWhole:      "mv .git/index .git/index.damaged && git reset   # your files stay; staged changes are in the damaged index",
}

// failure is an error as wfs prints it, as text and as JSON.
type failure struct {
	present.Failure
	Recovered []recoveredJSON `json:"recovered,omitempty"`
}

// kind describes how wfs shows one kind of error. In a hint, {again} stands for the command as the user typed it.
type kind struct {
	code, hint string
	exit       int
	fits       func(a *app, err error, f *failure) bool // whether err is of this kind; may change f
}

// of returns the kind of all errors that have the type E. Its function `more` may add details to the failure.
func of[E error](code, hint string, exit int, more func(*app, E, *failure)) kind {
	return kind{code, hint, exit, func(a *app, err error, f *failure) bool {
		e, is := errors.AsType[E](err)
		if is && more != nil {
			more(a, e, f)
		}
		return is
	}}
}

// is returns the kind of the given error values.
func is(code, hint string, exit int, errs ...error) kind {
	return kind{code, hint, exit, func(_ *app, err error, _ *failure) bool {
		return slices.ContainsFunc(errs, func(e error) bool { return errors.Is(err, e) })
	}}
}

// kinds maps errors to codes, hints and exit codes. wfs uses the first entry that fits an error.
var kinds = []kind{
	of("output", "", exitError, func(_ *app, e *outputError, f *failure) { f.Error = e.Error() }),
	of("no_ledger", "", exitError, func(a *app, e *session.NoLedgerError, f *failure) { f.Hint = a.LedgerHint(e.ID) }),
	{"disk_full", "free some disk space (df -h .), then {again}: nothing was lost", exitError,
		func(_ *app, err error, f *failure) bool {
			_, move := errors.AsType[*transition.MoveFailedError](err)
			f.Error = isFull + f.Error
			return diskFull(err) && !move // the hint of a failed move says where the files are
		}},
	of("", "", exitError, func(a *app, e *session.Refusal, f *failure) {
		f.Code, f.Hint, f.Exit = string(e.Code), e.Hint, cmp.Or(refusals[e.Code], exitError)
		if e.Code == session.RefuseNoSession && e.Hint == "" {
			f.Hint = a.forNoSession(context.Background(), strings.HasPrefix(e.Message, `no session "`))
		}
	}),
	of("error", "", exitError, func(_ *app, e *ranError, f *failure) { f.Exit = e.exit }),
	of("held", "wfs status", exitHeld, func(_ *app, e *registry.HeldError, f *failure) {
		if workspace.IsRun(e.Holder) {
			f.Hint = strings.TrimSpace("wfs watch " + e.Holder.Session)
		}
	}),
	of("locked", "", exitHeld, func(_ *app, e *gitcmd.LockedError, f *failure) { f.Hint = lockedHint(e) }),
	of("rules", "", exitUsage, func(a *app, e *workspace.FindingsError, f *failure) {
		f.Hint = e.Hint("{again} --agent " + a.someAgent())
	}),
	of[*handover.HookChangedError](string(session.RefuseHook),
		"run the hook, then wfs run to judge its changes, then wfs finish", exitBlocked, nil),
	{string(session.RefuseHook), "fix what your hook or signing reports, then wfs finish", exitBlocked,
		func(_ *app, err error, _ *failure) bool {
			git, is := errors.AsType[*gitcmd.GitError](err)
			return is && len(git.Args) > 0 && git.Args[0] == "commit"
		}},
	is(string(session.RefuseBranch), "wfs finish --branch NAME", exitError, handover.ErrBranchInUse),
	is("gone", "restore it from a backup or another clone: git clone REMOTE, then move its .git here", exitError,
		gitcmd.ErrGone),
	is("replaced", "the checkpoints are in git, and your files as they are: wfs status, then wfs run", exitError,
		durable.ErrReplaced),
	is(string(session.RefuseMoved), "wfs status, then run it again", exitError, refs.ErrMoved),
	is(string(session.RefuseInTheWay), "move them aside, then run it again", exitError, checkout.ErrInTheWay),
	of("move_failed", "", exitError, func(_ *app, e *transition.MoveFailedError, f *failure) {
		f.Hint = moveFailedHint(e)
		if diskFull(e) {
			f.Error = isFull + f.Error
		}
	}),
	of(string(session.RefuseInTheWay), "", exitError, func(_ *app, e *worktree.MountedError, f *failure) {
		f.Hint = "umount " + e.Path + ", then run it again"
	}),
	is("overlap", "wfs finish", exitBlocked, handover.ErrOverlap),
	of("", "", exitError, func(_ *app, e *gitcmd.ReadyError, f *failure) {
		f.Code, f.Hint = string(e.Code), readyHints[string(e.Code)]
		if e.Code == gitcmd.NotIdentified { // only finish needs an identity
			f.Exit = exitBlocked
		}
	}),
	is("not_a_repository", "git init, or cd into a repository", exitError, gitcmd.ErrNotRepository),
	of("unusable", "fix it until git status works here", exitError, func(_ *app, e *gitcmd.UnusableError, f *failure) {
		f.Hint = cmp.Or(e.Hint, f.Hint)
	}),
	is("bare", "cd to the files of the repository: git worktree list", exitError, gitcmd.ErrNoWorkTree),
	is("bare", "git worktree add ../work && cd ../work", exitError, gitcmd.ErrBare),
	is("git", "install git 2.34 or newer", exitError, gitcmd.ErrNoGit, gitcmd.ErrGitTooOld),
	is("newer", "install that version; this one is: wfs --version", exitError, session.ErrNewer, plans.ErrNewer),
	is("not_private", "wfs doctor", exitError, durable.ErrNotPrivate),
	is("no_locks", "clone the repository onto a local disk: git clone . DIRECTORY", exitError, durable.ErrNoLocks),
	is("corrupt", "wfs doctor", exitError, registry.ErrCorrupt, codec.ErrBadLine, history.ErrUnreadable,
		refs.ErrBrokenRef, object.ErrNoObject,
		durable.ErrNotRegular, durable.ErrTooLarge),
	{"interrupted", "", exitInterrupted, func(a *app, err error, f *failure) bool {
		if f.Exit = a.signals.exitCode(); f.Error == context.Canceled.Error() {
			f.Error = "interrupted"
		}
		return errors.Is(err, context.Canceled)
	}},
}

// diagnose returns an error's message, hint and exit code.
func (a *app) diagnose(err error) failure {
	f := failure{Failure: present.Failure{Version: jsonVersion, Error: err.Error(), Code: "error", Exit: exitError}}
	for _, k := range kinds {
		try := f
		if try.Code, try.Hint, try.Exit = k.code, k.hint, k.exit; k.fits(a, err, &try) {
			f = try
			break
		}
	}
	again := a.again()
	if half, is := errors.AsType[*transition.HalfWayError](err); is { // repeating an undo would undo one operation more
		again = a.typed(half.Completes)
		f.Hint = cmp.Or(f.Hint, "{again}")
	}
	if strings.Contains(f.Hint, "{again}") {
		f.Hint = strings.ReplaceAll(f.Hint, "{again}", again)
	} else if f.Hint != "" {
		f.Hint = a.typed(f.Hint)
	}
	return f
}

const isFull = "the disk is full, or your quota is used up: "

// diskFull reports whether an error, or the message of a git command that failed, means that the disk or the user's
// quota is full.
func diskFull(err error) bool {
	var git *gitcmd.GitError
	said := errors.As(err, &git) &&
		slices.ContainsFunc([]string{"No space left on device", "Disk quota exceeded", "Out of diskspace"},
			func(word string) bool { return strings.Contains(git.Stderr, word) })
	return said || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// print prints an error in one line, and its hint. With --json it prints both as JSON.
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

// lockedHint returns the hint for an error about a lock of git that another process holds.
func lockedHint(e *gitcmd.LockedError) string {
	remove := fmt.Sprintf("rm %s && {again}", shellWord(e.Path))
	switch {
	case e.Deserted():
		return remove
	case !e.Known:
		return "if no git is running here: " + remove
	}
	return "when it has ended: {again}"
}

// moveFailedHint returns the hint for a move that failed.
func moveFailedHint(e *transition.MoveFailedError) string {
	switch {
	case e.Stuck != nil:
		return fmt.Sprintf("fix that, then {again}; or to give the move up, with the files as they lie there: %s, then wfs status", e.Way)
	case e.How == session.MoveNew: // the move failed after the session was created
		return fmt.Sprintf("fix that, then wfs switch %s", e.ID)
	}
	return "fix that, then {again}"
}
