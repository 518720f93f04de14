package cmd

import (
	"github.com/spf13/pflag"

	"github.com/wfs-dev/wfs/cmd/internal/present/live"
)

// verbosity has the flags --quiet and --verbose.
type verbosity struct{ quiet, verbose bool }

func (v *verbosity) flags(f *pflag.FlagSet) {
	f.BoolVarP(&v.quiet, "quiet", "q", false, "only tell what ends an attempt")
	f.BoolVarP(&v.verbose, "verbose", "v", false, "tell everything that an agent says and does")
}

func (v *verbosity) how() (live.How, error) {
	switch {
	case v.quiet && v.verbose:
		return "", usage("", "--quiet and --verbose exclude each other")
	case v.quiet:
		return live.Quiet, nil
	case v.verbose:
		return live.Verbose, nil
	}
	return live.Ordinary, nil
}
