package cmd

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/internal/installed"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/workflows"
)

// installed knows the packages that are installed in this work tree, nil where no phase of a plan asks for that.
func (a *app) installed(plan workflows.Plan) *phases.Packages {
	w := &plan.Workflow
	if !slices.ContainsFunc(w.Phases, func(p workflows.Phase) bool { return w.PackagesIn(&p) != workflows.TamperOff }) {
		return nil
	}
	if a.packages == nil {
		env := phases.DefaultEnv(a.env.Environ, plan.Env)
		a.packages = &phases.Packages{Dir: filepath.Join(a.repo.StateDir(), "worktrees", a.repo.Worktree(), "packages"), Read: a.repo.ReadInstalled,
			Scan: func(ctx context.Context, last *installed.State) (*installed.State, error) {
				return a.repo.Installed(ctx, last, env)
			}}
	}
	return a.packages
}
