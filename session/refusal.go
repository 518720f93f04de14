package session

import "fmt"

// Refusal is an error that a person can resolve: the problem, and the next command to type.
type Refusal struct {
	Code    RefusalCode
	Message string
	Hint    string // "" without a remedy to type
}

// Refuse returns a refusal. hint may be "".
func Refuse(code RefusalCode, hint, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func (r *Refusal) Error() string { return r.Message }

// RefusalCode identifies a kind of refusal for scripts; each has one exit code.
type RefusalCode string

const (
	RefuseNotCurrent RefusalCode = "not_current" // HEAD is not on the session's branch
	RefuseNoSession  RefusalCode = "no_session"  // no such session, or none is current
	RefuseAmbiguous  RefusalCode = "ambiguous"   // a name that matches several sessions
	RefuseFinal      RefusalCode = "final"       // the session is finished or abandoned
	RefuseDirty      RefusalCode = "dirty"       // uncommitted changes, and no option says where they go
	RefuseSameSpec   RefusalCode = "same_spec"   // a session that is not finished has this spec
	RefuseInTheWay   RefusalCode = "in_the_way"  // files that must not be overwritten
	RefuseConflict   RefusalCode = "conflict"    // a merge or rebase is in progress
	RefuseBaseline   RefusalCode = "baseline"    // a gate cannot run on the base
	RefuseUnbuilt    RefusalCode = "unbuilt"     // no test of the base can be built, and a phase asks for new ones
	RefuseNotGreen   RefusalCode = "not_green"   // no checkpoint that passed can be handed over
	RefuseNotAgreed  RefusalCode = "not_agreed"  // the work to hand over lacks agreed items or phases
	RefuseBranch     RefusalCode = "branch"      // a branch is missing, moved, or exists already
	RefuseName       RefusalCode = "name_taken"  // git cannot have a branch of that name next to another one
	RefuseNothing    RefusalCode = "nothing"     // nothing to undo
	// during a run wfs cannot know who types a command that only a person may give
	RefuseDriven    RefusalCode = "held"
	RefuseMoved     RefusalCode = "moved"         // another process moved on
	RefuseNoSuchCP  RefusalCode = "no_checkpoint" // no such checkpoint
	RefuseUsage     RefusalCode = "usage"         // options that do not go together
	RefuseNotSet    RefusalCode = "not_set"       // a setting without a value
	RefuseUntrusted RefusalCode = "untrusted"     // untrusted commands from a repository
	RefuseHook      RefusalCode = "hook"          // a hook or signing failed
	RefuseNotMerged RefusalCode = "not_merged"    // only the session has its work
	RefuseAttempt   RefusalCode = "attempt"       // in the middle of an attempt
	RefuseSurvivors RefusalCode = "survivors"     // processes of the last run are alive
	RefuseSetup     RefusalCode = "setup"         // the set-up command of a work tree failed
	RefuseAgent     RefusalCode = "agent"         // the program of an agent is not installed
	RefuseWorktree  RefusalCode = "worktree"      // checked out in two work trees, or in another one
)
