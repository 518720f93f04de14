package cmd

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/gitstate"
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
		sayRescue(context.Background(), repo, ref, say)
	}
	if len(refs) > 0 {
		say("  wfs backups lists it")
	}
}

// sayRescue says how to look at what a rescue keeps, below a line that has named it: a rescue itself is a commit of
// documents, and its parts are in those that it was made upon. One that is not there any more is passed over.
func sayRescue(ctx context.Context, repo *gitstate.Repo, ref string, say func(string, ...any)) {
	parts, err := repo.RescuedParts(ctx, ref)
	if err != nil {
		return
	}
	for i, p := range parts {
		what := "to look at it"
		if i > 0 {
			what = "and " + strings.TrimSuffix(p.What, ",")
		}
		say("  %s: %s", what, p.Show())
	}
}
