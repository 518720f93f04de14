package settings

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// refusing is a prefix for addresses that git cannot push to. Git prints it in its error message.
const refusing = "pushing-is-off-in-runs-of-wfs--see-agent.push::"

// NoPush returns git settings, alternately keys and values, that make every push fail: the empty prefix matches all
// addresses, and the full address of each remote takes precedence over replacements in the user's settings. It guards
// against mistakes only: git can be given other settings, and other programs can write to a remote.
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
	// for a pushurl, git applies only insteadOf, which affects fetches too
	for _, address := range pushed {
		if !slices.Contains(fetched, address) {
			settings = append(settings, "url."+refusing+".insteadOf", address)
		}
	}
	return settings, nil
}
