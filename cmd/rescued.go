package cmd

import (
	"context"

	"github.com/wfs-dev/wfs/gitstate"
)

// sayRescue says how to look at what a rescue keeps, below a line that has named it: a rescue itself is a commit of
// documents, and the files are in one that it was made upon. One that is not there any more is passed over.
func sayRescue(ctx context.Context, repo *gitstate.Repo, ref string, say func(string, ...any)) {
	if files, err := repo.RescuedFiles(ctx, ref); err == nil && files != "" {
		say("  to look at it: git show %s, or one file: git show %s:FILE", files, files)
	}
}
