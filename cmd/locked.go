package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate"
)

// lockedHint is what to type about a lock of git's that somebody else made.
func lockedHint(e *gitstate.LockedError, again string) string {
	remove := fmt.Sprintf("rm %s && %s", shellWord(e.Path), again)
	switch {
	case e.Deserted():
		return remove
	case !e.Known:
		return "if no git is running here: " + remove
	}
	return "when it has ended: " + again
}

// again is this command as it was typed, with more flags.
func (a *app) again(more ...string) string {
	words := []string{"wfs"}
	for _, arg := range append(slices.Clone(a.env.Args), more...) {
		if rest := strings.TrimLeft(arg, "-"); rest == "" || shellWord(rest) != rest {
			arg = shellWord(arg)
		}
		words = append(words, arg)
	}
	return a.typed(strings.Join(words, " "))
}
