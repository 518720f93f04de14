package cmd

import (
	"fmt"

	"github.com/wfs-dev/wfs/session"
)

// undriven refuses a person's word while a run drives one of these sessions: what works in that run can type it as well,
// and no variable of the environment tells the two apart.
func (a *app) undriven(command string, ids ...session.ID) error {
	for _, id := range ids {
		who, held, err := a.clone.Driver(id)
		if err != nil {
			return err
		}
		if held && isRun(who) {
			return &session.Refusal{Code: session.RefuseDriven, Hint: fmt.Sprintf("wfs stop %s, then type it again", id),
				Message: fmt.Sprintf("%s is a person's word, and while `%s` (pid %d) drives %s nobody can know who types it", command, who.Command, who.PID, id.Display())}
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
