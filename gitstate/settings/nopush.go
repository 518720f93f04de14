package settings

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// refusing is the beginning of addresses that git can push nothing to. It is what git says when it is asked to.
const refusing = "pushing-is-off-in-runs-of-wfs--see-agent.push::"

// NoPush are settings of git's, in turn a key and its value, with which git pushes nowhere: the empty beginning
// is that of every address, and the whole address of a remote wins over what the user's own settings put in its
// place. It is a guard against mistakes and no wall: git can be given other settings, and other programs can
// write to a remote as well.
func (r *Settings) NoPush(ctx context.Context) ([]string, error) {
	settings := []string{"url." + refusing + ".pushInsteadOf", ""}
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "config", "-z", "--get-regexp",
		`^remote\..*\.(url|pushurl)$`)
	if err != nil {
		return nil, err
	}
	var fetched, pushed []string
	for _, entry := range strings.Split(string(out), "\x00") {
		key, address, ok := strings.Cut(entry, "\n")
		switch {
		case !ok || address == "":
		case strings.HasSuffix(key, ".pushurl"):
			pushed = append(pushed, address)
		default:
			fetched = append(fetched, address)
			settings = append(settings, "url."+refusing+".pushInsteadOf", address)
		}
	}
	// git does not look for something to put in the place of those but when it fetches, too
	for _, address := range pushed {
		if !slices.Contains(fetched, address) {
			settings = append(settings, "url."+refusing+".insteadOf", address)
		}
	}
	return settings, nil
}
