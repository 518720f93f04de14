package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/trial"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// tryUnused checks that a gate's tests use the code of this checkout. It returns nil if they do, and if that cannot be
// found out.
func (a *setup) tryUnused(ctx context.Context, t initGate) (unused *trial.Unused) {
	_ = a.withFiles(ctx, func(tree session.Tree, dir string) (err error) { // an error only means that it is unknown
		defer a.rooms.Leave()
		w := a.Engine.Works.(*works)
		j := w.judge(ctx, workflows.Plan{Baseline: []workflows.Gate{t.Gate}, Setup: a.setup}, dir, tree, false)
		unused, err = j.FindUnused(ctx, t.Gate, tree, t.Result, dir)
		return err
	})
	return unused
}

// installHere says how to install the project so that its tests use the code of this checkout. `setup` is the set-up
// command that was found.
func installHere(ctx context.Context, repo *gitstate.Repo, setup workflows.Command) string {
	if install := setup.Text(); install != "" {
		if _, ignored, err := repo.Treats(ctx, ".venv/x"); strings.Contains(install, ".venv") && err == nil && !ignored {
			install = "echo .venv/ >> .gitignore && " + install
		}
		return "To install this checkout with what it needs: " + install + " && wfs init --force"
	}
	return "Install it where the tests look for it, then wfs init --force; or name a command that finds it: " +
		"wfs init --force --test 'COMMAND'"
}

// sayRed says which tests of a gate fail on the base, with a line of the output of the first one.
func sayRed(say func(string, ...any), g session.GateResult) {
	n, all := g.Counts.Failed+g.Counts.Errors, g.Counts.Total()
	if n == 0 {
		return
	}
	names := append(slices.Clone(g.KnownRed), make([]session.TestID, max(0, n-len(g.KnownRed)))...)
	say("  already failing, and ignored: %s", safetext.First(names, 5, ", "))
	if g.FirstError != "" {
		say("    %s", safetext.Line(g.FirstError, 200))
	}
	if 2*n >= all {
		say("  beware: %d of %d tests fail before any work, so they cannot show whether it breaks something", n, all)
	}
}
