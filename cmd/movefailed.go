package cmd

import (
	"fmt"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// moveFailedHint is what to type about a move that failed. {again} is the command that was typed.
func moveFailedHint(e *engine.MoveFailedError) string {
	switch {
	case e.Stuck != nil:
		return fmt.Sprintf("fix that, then {again}; or to give the move up, with the files as they lie there: %s, then wfs status", e.Way)
	case e.How == session.MoveNew: // the session is there
		return fmt.Sprintf("fix that, then wfs switch %s", e.ID)
	}
	return "fix that, then {again}"
}

// absentHint is what to type about files that a partial clone has not got.
func absentHint(e *gitstate.AbsentError) string {
	if e.Remote == "" {
		return "git config remote.origin.promisor true, if origin is where it was cloned from, then {again}"
	}
	return fmt.Sprintf("when %s can be reached: {again}", e.Remote)
}
