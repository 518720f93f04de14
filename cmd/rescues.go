package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/workspace"
)

// keptJSON names rescues of uncommitted changes.
type keptJSON struct {
	Rescued     string   `json:"rescued,omitempty"`
	AlsoRescued []string `json:"also_rescued,omitempty"` // later ones
}

func keptIn(refs []string) keptJSON {
	if len(refs) == 0 {
		return keptJSON{}
	}
	return keptJSON{refs[0], refs[1:]}
}

// wasThere describes the usual content of a rescue.
const wasThere = "what you had not committed"

// sayKept names rescues, and says how to view them.
func sayKept(repo *gitstate.Repo, what string, refs []string, say func(string, ...any)) {
	for _, ref := range refs {
		say("%s is saved in %s", what, ref)
		workspace.SayRescue(context.Background(), repo, ref, say)
	}
	if len(refs) > 0 {
		say("  wfs backups lists it")
	}
}
