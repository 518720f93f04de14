package cmd

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/session"
)

// undriven refuses a person's word while a run drives one of these sessions: what works in that run can type it as
// well, and no variable of the environment tells the two apart.
func (a *app) undriven(command string, ids ...session.ID) error {
	for _, id := range ids {
		who, held, err := a.clone.Driver(id)
		if err != nil {
			return err
		}
		if held && isRun(who) {
			return &session.Refusal{Code: session.RefuseDriven, Hint: fmt.Sprintf("wfs stop %s, then type it again", id),
				Message: fmt.Sprintf("%s is for you to type, and while `%s` (pid %d) works on %s its agent could type it as well",
					command, who.Command, who.PID, id)}
		}
	}
	return nil
}

// notWithin refuses a person's word to what descends from a run, whatever session it is about and whatever its
// environment says: only there the lock of the session would not refuse it.
func (a *app) notWithin() error {
	if !slices.Contains(peoplesWords, strings.TrimPrefix(a.verb, "wfs ")) {
		return nil
	}
	ids, err := a.clone.Sessions()
	if err != nil {
		return err
	}
	above := proc.Above()
	for _, id := range ids {
		who, held, err := a.clone.Driver(id)
		if err != nil {
			return err
		}
		if held && isRun(who) && slices.Contains(above, who.PID) {
			return byAgent(a.verb)
		}
	}
	return nil
}

// noneDriven is undriven for what concerns all sessions of this clone.
func (a *app) noneDriven(command string) error {
	ids, err := a.clone.Sessions()
	if err != nil {
		return err
	}
	return a.undriven(command, ids...)
}

// drivenElsewhere reports whether a run of another process drives a session of this clone, or that cannot be known.
func (a *app) drivenElsewhere() bool {
	ids, err := a.clone.Sessions()
	for _, id := range ids {
		who, held, e := a.clone.Driver(id)
		if e != nil || held && isRun(who) && who.PID != os.Getpid() {
			return true
		}
	}
	return err != nil
}
