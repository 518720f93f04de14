package cmd

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// cheapClean is how long a gate may have taken in the work tree to be tried in a clean one as well, in milliseconds.
const cheapClean = 20_000

// initClean is what a gate said in a clean tree when it was set up.
type initClean struct {
	Proves bool   `json:"proves"`           // it passes there: finished work can be proven
	Reason string `json:"reason,omitempty"` // why not, in one line

	lacks, setUp bool // the set-up has left something out, and the reason says it; there was a set-up
}

// tryClean runs a gate that passed in the work tree in a clean tree as well, nil when that would say nothing or take long.
func (a *app) tryClean(ctx context.Context, g workflows.Gate, base session.Baseline,
	setup workflows.Command) *initClean {
	if res := base.Gates[0]; res.Exit != 0 || len(base.Red)+len(base.Flaky) > 0 || res.Millis > cheapClean || g.MayChangeTree {
		return nil
	}
	defer a.dropClean()
	g.Where = workflows.Clean
	a.rooms.made = func(dir string, millis int64) {
		a.note("    the set-up took %s, and %s", time.Duration(millis)*time.Millisecond, inBytes(sizeBelow(dir)))
	}
	b, err := a.tryGate(ctx, g, setup)
	var changed *phases.ChangedTreeError
	var lacks *phases.NotInstalledError
	c := &initClean{setUp: !setup.IsZero()}
	switch {
	case ctx.Err() != nil, errors.As(err, &changed):
		return nil
	case err != nil:
		c.lacks = errors.As(err, &lacks)
		c.Reason = safetext.Line(strings.TrimSpace(err.Error()), 400)
		return c
	case b.Gates[0].Exit != 0 || len(b.Red) > 0:
		c.Reason = safetext.Line("it fails without the files that git ignores: "+testNames(b.Red), 300)
		return c
	}
	return &initClean{Proves: true}
}

// sayClean tells of it, and what can be done.
func (a *app) sayClean(c *initClean) {
	switch {
	case c == nil:
	case c.Proves:
		a.out("  it passes in a clean tree as well: finished work can be proven")
	case c.lacks:
		a.out("  not in a clean tree: %s", c.Reason)
		a.out("  finished work cannot be proven before that is installed as well")
	case c.setUp:
		a.out("  not in a clean tree: %s", c.Reason)
		a.out("  finished work cannot be proven so: let worktree: setup in %s install what it needs, or name it in "+
			"clean-provide, or set clean-proof: off", configPath)
	default:
		a.out("  not in a clean tree: %s", c.Reason)
		a.out("  finished work cannot be proven so: name what it needs in clean-provide, or set clean-proof: off in %s", configPath)
	}
}

// proof tells when the work of a session that is not over could not be proven.
func (e *examination) proof(id session.ID) {
	v, err := e.a.view(e.ctx, id)
	if err != nil {
		return // it is told where the session is looked at
	}
	s := &v.Session
	switch s.Status {
	case session.StatusFinished, session.StatusAbandoned:
		if current, err := e.a.current(e.ctx); err != nil || current != id {
			return
		}
	}
	p := proofOf(s)
	if p == nil || p.Verdict != session.Blocked {
		return
	}
	e.add(finding{Level: findTells, About: "proof", Session: id, Where: session.LedgerOf(id), What: safetext.Line(proofLine(p), 300),
		Follows: "the work is complete, and its commit says so; if it cannot be helped: clean-provide, or clean-proof: off in the configuration, then wfs edit --reload"})
}
