package settings

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/refs"
)

// Kept are the refspecs that exclude the refs of sessions from `git fetch`, so that `--prune` does not delete them.
var Kept = []string{"^" + refs.BranchPrefix + "*", "^" + strings.TrimSuffix(refs.RefsPrefix, "/") + "*"}

// Prunes lists the names of the remotes' settings that make `git fetch --prune` delete refs of sessions.
func (r *Settings) Prunes(ctx context.Context) ([]string, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "config", "-z", "--get-regexp", `^remote\..*\.fetch$`)
	settings := gitcmd.SplitZ(out)
	var keys []string
	for _, entry := range settings {
		key, value, _ := strings.Cut(entry, "\n")
		kept := func(spec string) bool { return slices.Contains(settings, key+"\n"+spec) }
		all := strings.HasSuffix(value, ":refs/*")
		if (all || strings.HasSuffix(value, ":refs/heads/*")) && !kept(Kept[0]) || all && !kept(Kept[1]) {
			keys = append(keys, key)
		}
	}
	return keys, err
}
