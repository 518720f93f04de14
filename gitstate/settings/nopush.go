package settings

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// refusing is a prefix for addresses to which git cannot push. Git prints it in its error message.
const refusing = "pushing-is-off-in-runs-of-wfs--see-agent.push::"

// NoPush returns git settings, alternately keys and values, that make every push fail. They put the prefix `refusing`
// before the address: the empty match applies to all addresses, and the full address of each remote takes precedence
// over replacements in the user's settings. This only guards against mistakes: git can be run with other settings, and
// other programs can write to a remote.
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
	// For a pushurl, git only applies insteadOf, which also affects fetches from that address.
	for _, address := range pushed {
		if !slices.Contains(fetched, address) {
			settings = append(settings, "url."+refusing+".insteadOf", address)
		}
	}
	return settings, nil
}
