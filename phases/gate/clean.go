package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// errNoClean reports that there is no clean checkout to run a gate in.
var errNoClean = errors.New("where: clean needs room for a clean checkout, and there is none")

// In makes a clean checkout of a tree, and returns a runner for it. This runner starts gates and reads files there,
// and its environment has the path of the checkout in place of the work tree's.
func (j *Runner) In(ctx context.Context, tree session.Tree) (*Runner, session.CleanTree, error) {
	if j.Clean == nil {
		return nil, session.CleanTree{}, errNoClean
	}
	c, err := j.Clean(ctx, tree)
	if err != nil {
		return nil, c, err
	}
	at := *j
	at.Root, at.Clean, at.Inside = c.Root, nil, &c
	at.Env = slices.Clone(j.Env)
	for i, entry := range at.Env {
		at.Env[i] = c.Lead(entry)
	}
	at.Env = roomEnv(at.Env, c.Home, c.Temp)
	return &at, c, nil
}

// EnterClean makes a clean checkout of a tree, and returns a runner for it. If the gate would judge files outside of
// the checkout, EnterClean returns no runner, but a run whose result says so.
func (j *Runner) EnterClean(ctx context.Context, g workflows.Gate, tree session.Tree) (*Run, *Runner, error) {
	at, c, err := j.In(ctx, tree)
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
		return &Run{Gate: g, Report: report.New(), Leads: c.LeadsBack}, nil, nil
	}
	return nil, at, nil
}

// Astray returns the reason why a run says nothing about the tree; "" if it is valid. Either the gate did not run,
// because it would have judged files outside of its clean checkout; or it changed an installed package, which may
// affect its own results and later ones.
func (g *Run) Astray() string {
	switch {
	case g.Leads != nil:
		mend := ""
		if g.Leads.Mend != "" {
			mend = mendText(g.Leads.Mend)
		}
		return fmt.Sprintf("a module of the project resolves outside the clean checkout: %s leads to %s%s", g.Leads.Path,
			g.Leads.To, mend)
	case g.Changed != "":
		return "the gate's command changed installed packages: " + g.Changed
	}
	return ""
}
