package session

import "fmt"

// Refusal is the error of a command that did nothing. It has the problem, and the next command to type to resolve it.
type Refusal struct {
	Code    RefusalCode
	Message string
	Hint    string // the command to type, "" if no command helps
}

// Refuse returns a refusal with a formatted message. `hint` may be "".
func Refuse(code RefusalCode, hint, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func (r *Refusal) Error() string { return r.Message }

// RefusalCode identifies a kind of refusal for scripts. Each code has one exit code of wfs.
type RefusalCode string

const (
	RefuseNotCurrent RefusalCode = "not_current" // HEAD is not on the session's branch
	RefuseNoSession  RefusalCode = "no_session"  // no such session, or none is current
	RefuseAmbiguous  RefusalCode = "ambiguous"   // the name matches several sessions
	RefuseFinal      RefusalCode = "final"       // the session is finished or abandoned
	// there are uncommitted changes, and no option says whether to take them along or leave them
	RefuseDirty     RefusalCode = "dirty"
	RefuseSameSpec  RefusalCode = "same_spec"  // an unfinished session already has this spec
	RefuseInTheWay  RefusalCode = "in_the_way" // files are in the way that must not be overwritten
	RefuseConflict  RefusalCode = "conflict"   // a merge or rebase is in progress
	RefuseBaseline  RefusalCode = "baseline"   // a gate cannot run on the base
	RefuseUnbuilt   RefusalCode = "unbuilt"    // no test of the base can be built, and a phase requires new tests
	RefuseNotGreen  RefusalCode = "not_green"  // there is no green checkpoint to hand over
	RefuseNotAgreed RefusalCode = "not_agreed" // items or phases of the work to hand over are not done
	RefuseBranch    RefusalCode = "branch"     // a branch is missing, moved, or exists already
	// git cannot create a branch of that name, because of the name of another branch
	RefuseName    RefusalCode = "name_taken"
	RefuseNothing RefusalCode = "nothing" // there is nothing to undo
	// only a person may give this command, and during a run wfs cannot know whether a person or the agent typed it
	RefuseDriven    RefusalCode = "held"
	RefuseMoved     RefusalCode = "moved"         // another process has changed the state meanwhile
	RefuseNoSuchCP  RefusalCode = "no_checkpoint" // no such checkpoint
	RefuseUsage     RefusalCode = "usage"         // options that do not go together
	RefuseNotSet    RefusalCode = "not_set"       // the setting has no value
	RefuseUntrusted RefusalCode = "untrusted"     // the repository's commands are not trusted
	RefuseHook      RefusalCode = "hook"          // a git hook failed, or signing a commit failed
	RefuseNotMerged RefusalCode = "not_merged"    // the session's work is in no other branch
	RefuseAttempt   RefusalCode = "attempt"       // an attempt is in progress
	RefuseSurvivors RefusalCode = "survivors"     // processes of the last run are alive
	RefuseSetup     RefusalCode = "setup"         // the set-up command of a work tree failed
	RefuseAgent     RefusalCode = "agent"         // the program of an agent is not installed
	// the session's branch is checked out in two work trees, or in another one
	RefuseWorktree RefusalCode = "worktree"
)
