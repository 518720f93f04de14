package cmd

import "github.com/spf13/pflag"

// verbosity is the flags --quiet and --verbose.
type verbosity struct{ quiet, verbose bool }

func (v *verbosity) flags(f *pflag.FlagSet) {
	f.BoolVarP(&v.quiet, "quiet", "q", false, "only tell what ends an attempt")
	f.BoolVarP(&v.verbose, "verbose", "v", false, "tell everything that an agent says and does")
}

func (v *verbosity) how() (how, error) {
	switch {
	case v.quiet && v.verbose:
		return "", usage("", "--quiet and --verbose exclude each other")
	case v.quiet:
		return quiet, nil
	case v.verbose:
		return verbose, nil
	}
	return ordinary, nil
}
