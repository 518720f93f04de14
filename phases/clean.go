package phases

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// errNoClean says that there is no clean tree to run a gate in.
var errNoClean = errors.New("where: clean needs room for a clean checkout, and there is none")

// in is the runner in the clean tree of a tree: gates run there, files are read there, and the environment
// names it wherever it named the work tree.
func (j *GateRunner) in(ctx context.Context, tree session.Tree) (*GateRunner, session.CleanTree, error) {
	if j.Clean == nil {
		return nil, session.CleanTree{}, errNoClean
	}
	c, err := j.Clean(ctx, tree)
	if err != nil {
		return nil, c, err
	}
	at := *j
	at.Root, at.Clean, at.inside = c.Root, nil, &c
	at.Env = slices.Clone(j.Env)
	for i, entry := range at.Env {
		at.Env[i] = c.Lead(entry)
	}
	at.Env = roomEnv(at.Env, c.Home, c.Temp)
	return &at, c, nil
}

// enterClean makes the clean tree of the tree that is judged, and returns the runner in it, or the run of a gate
// that may not run there.
func (j *GateRunner) enterClean(ctx context.Context, g workflows.Gate) (*gateRun, *GateRunner, error) {
	at, c, err := j.in(ctx, j.judged)
	if err != nil {
		return nil, nil, fmt.Errorf("gate %s: the clean checkout: %w", g.Name, err)
	}
	if c.LeadsBack == nil {
		for _, word := range append([]string{g.Run.Shell}, g.Run.Argv...) {
			if c.Names(word) {
				c.LeadsBack = &session.LeadsBack{Path: "the gate's command", To: j.Root}
			}
		}
	}
	if c.LeadsBack != nil {
		return &gateRun{gate: g, report: report.New(), leads: c.LeadsBack}, nil, nil
	}
	return nil, at, nil
}

// Astray says why a run has judged something else than a tree, "" if it has not: it would have judged files outside of
// its clean tree, and so did not run; or something that is installed was changed in it, so that what it said, and what
// the next one would say there, may be of that making.
func (g *gateRun) Astray() string {
	switch {
	case g.leads != nil:
		mend := ""
		if g.leads.Mend != "" {
			mend = "; to fix it, in .wfs/config.yaml: " + g.leads.Mend
		}
		return fmt.Sprintf("a module of the project resolves outside the clean checkout: %s leads to %s%s", g.leads.Path,
			g.leads.To, mend)
	case g.changed != "":
		return "the gate's command changed installed packages: " + g.changed
	}
	return ""
}
