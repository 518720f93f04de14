package settings

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// Filters are the commands that the repository's own configuration puts between files and what git stores of
// them, as "KEY: COMMAND". Git runs them whenever it reads or writes such a file. Those of git-lfs are left
// out, which most people know.
func (r *Settings) Filters(ctx context.Context) ([]string, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "config", "--local", "--includes", "-z", "--get-regexp",
		`^filter\..*\.(clean|smudge|process)$`)
	var list []string
	for _, entry := range gitcmd.SplitZ(out) {
		key, command, _ := strings.Cut(entry, "\n")
		if command != "" && !strings.HasPrefix(command, "git-lfs ") {
			list = append(list, key+": "+command)
		}
	}
	return list, err
}
