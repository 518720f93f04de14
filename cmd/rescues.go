package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/workspace"
)

// keptJSON names rescues of what was there and in no commit.
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

// wasThere is what a rescue holds as a rule.
const wasThere = "what you had not committed"

// sayKept names rescues of something, and says how to look at them.
func sayKept(repo *gitstate.Repo, what string, refs []string, say func(string, ...any)) {
	for _, ref := range refs {
		say("%s is saved in %s", what, ref)
		workspace.SayRescue(context.Background(), repo, ref, say)
	}
	if len(refs) > 0 {
		say("  wfs backups lists it")
	}
}
