package settings

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// Filters returns the filter commands in the repository's own configuration, as "KEY: COMMAND". Git runs them when it
// adds or writes files that have such a filter. Filters omits git-lfs, which is well known.
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
