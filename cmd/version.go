package cmd

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
)

// Version is the version that `wfs version` prints. Releases set it with -ldflags "-X
// github.com/wfs-dev/wfs/cmd.Version=v1.2.3".
var Version = "dev"

type versionJSON struct {
	Version  int    `json:"version"`
	WFS      string `json:"wfs"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // there were uncommitted changes when wfs was built
	Go       string `json:"go"`
	OS       string `json:"os"`
	Format   int    `json:"format"` // version of the format of events
}

type versionVerb struct{ *app }

func (a *versionVerb) command() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "version, commit and Go version of this wfs",
		Long:    "Version prints the version of this wfs, the commit that it was built from, and the Go version. With --json it adds the format of state that it writes.",
		Example: "  wfs version\n  wfs version --json",
		Args:    noArgs,
		RunE:    with(a.run),
	}
}

func (a *versionVerb) run(context.Context, []string) error {
	v := versionJSON{Version: jsonVersion, WFS: Version, Go: runtime.Version(),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Format: session.FormatVersion}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	if a.json {
		return a.answer(v)
	}
	from := ""
	if v.Commit != "" {
		from = v.Commit[:min(len(v.Commit), 12)]
		if v.Modified {
			from += " with changes"
		}
		from += ", "
	}
	a.out("wfs %s (%s%s, %s)", v.WFS, from, v.Go, v.OS)
	return nil
}
