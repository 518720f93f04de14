package cmd

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
)

type versionJSON struct {
	Version int    `json:"version"`
	WFS     string `json:"wfs"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Format  int    `json:"format"` // of events and session.json
}

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "which wfs this is",
		Long:    "Version says which wfs this is, what it was built from, and which format of state it writes.",
		Example: "  wfs version\n  wfs version --json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionJSON{Version: jsonVersion, WFS: Version, Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, Format: session.FormatVersion}
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						v.Commit = s.Value
					}
				}
			}
			if a.json {
				return a.answer(v)
			}
			a.out("wfs %s (%s, %s)", v.WFS, v.Go, v.OS)
			return nil
		},
	}
}
