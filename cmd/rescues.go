package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/workspace"
)

// keptJSON names the rescues that a command made. A rescue is a ref with uncommitted changes that the command was about
// to overwrite.
type keptJSON struct {
	Rescued     string   `json:"rescued,omitempty"`
	AlsoRescued []string `json:"also_rescued,omitempty"` // further rescues of the same command
}

func keptIn(refs []string) keptJSON {
	if len(refs) == 0 {
		return keptJSON{}
	}
	return keptJSON{refs[0], refs[1:]}
}

// wasThere describes the usual content of a rescue in messages.
const wasThere = "what you had not committed"

// sayKept prints the names of rescues, and how to view them. `what` describes their content.
func sayKept(repo *gitstate.Repo, what string, refs []string, say func(string, ...any)) {
	for _, ref := range refs {
		say("%s is saved in %s", what, ref)
		workspace.SayRescue(context.Background(), repo, ref, say)
	}
	if len(refs) > 0 {
		say("  wfs backups lists it")
	}
}
