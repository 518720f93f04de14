package session

import "fmt"

// Refusal is an error that a person can do something about: what is wrong, and the next command to type.
type Refusal struct {
	Code    RefusalCode
	Message string
	Hint    string // "" when there is no remedy to type
}

// Refuse makes a refusal. hint may be "".
func Refuse(code RefusalCode, hint, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func (r *Refusal) Error() string { return r.Message }

// RefusalCode tells refusals apart for scripts; each has one exit code.
type RefusalCode string

const (
	RefuseNotCurrent RefusalCode = "not_current" // the session's branch is not what HEAD is on
	RefuseNoSession  RefusalCode = "no_session"  // no such session, or none is current
	RefuseAmbiguous  RefusalCode = "ambiguous"   // a name that fits several
	RefuseFinal      RefusalCode = "final"       // the session is finished or abandoned
	RefuseDirty      RefusalCode = "dirty"       // uncommitted changes, and nobody said what becomes of them
	RefuseSameSpec   RefusalCode = "same_spec"   // a session that is not finished has this spec
	RefuseInTheWay   RefusalCode = "in_the_way"  // files that must not be overwritten
	RefuseConflict   RefusalCode = "conflict"    // a merge or rebase is in progress
	RefuseBaseline   RefusalCode = "baseline"    // a gate cannot run on the base
	RefuseUnbuilt    RefusalCode = "unbuilt"     // no test of the base can be built, and a phase asks for new ones
	RefuseNotGreen   RefusalCode = "not_green"   // nothing judged green to hand over
	RefuseNotAgreed  RefusalCode = "not_agreed"  // less than what was agreed would be handed over
	RefuseBranch     RefusalCode = "branch"      // a branch is missing, moved, or there already
	RefuseName       RefusalCode = "name_taken"  // git cannot have a branch of that name beside another one
	RefuseNothing    RefusalCode = "nothing"     // nothing to undo
	// a run goes on, and nobody can know who types a person's word meanwhile
	RefuseDriven    RefusalCode = "held"
	RefuseMoved     RefusalCode = "moved"         // somebody else moved on
	RefuseNoSuchCP  RefusalCode = "no_checkpoint" // no such checkpoint
	RefuseUsage     RefusalCode = "usage"         // options that do not go together
	RefuseNotSet    RefusalCode = "not_set"       // a setting that nothing sets
	RefuseUntrusted RefusalCode = "untrusted"     // commands that a repository brought
	RefuseHook      RefusalCode = "hook"          // a hook or signing said no
	RefuseNotMerged RefusalCode = "not_merged"    // only the session holds its work
	RefuseAttempt   RefusalCode = "attempt"       // in the middle of an attempt
	RefuseSurvivors RefusalCode = "survivors"     // processes of the last run are alive
	RefuseSetup     RefusalCode = "setup"         // the set-up of a work tree failed
	RefuseAgent     RefusalCode = "agent"         // the program of an agent is not there
	RefuseWorktree  RefusalCode = "worktree"      // checked out in two work trees, or in another one
)
