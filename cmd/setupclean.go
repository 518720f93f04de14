package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
	"github.com/wfs-dev/wfs/workspace/check"
	"github.com/wfs-dev/wfs/workspace/rooms"
)

// cheapClean limits which gates wfs init also tries in a clean checkout: those that took at most so many milliseconds
// in the work tree.
const cheapClean = 20_000

// initClean is the result of running a gate in a clean checkout during wfs init.
type initClean struct {
	Proves bool   `json:"proves"`           // the gate passes there, so finished work can be proven
	Reason string `json:"reason,omitempty"` // why the gate does not pass there, in one line

	lacks, setUp bool // lacks: the set-up installs too little, see Reason; setUp: there is a set-up
}

// tryClean runs a gate that passed in the work tree again in a clean checkout. It returns nil without a run if that
// would show nothing or take long.
func (a *setup) tryClean(ctx context.Context, t initGate) *initClean {
	setup := a.setup
	g, base := t.Gate, t.base
	res := base.Gates[0]
	if res.Exit != 0 || len(base.Red)+len(base.Flaky) > 0 || res.Millis > cheapClean || g.MayChangeTree {
		return nil
	}
	if res.Where == string(workflows.Clean) {
		return &initClean{Proves: true}
	}
	g.Where = workflows.Clean
	made := ""
	a.rooms.Made = func(dir string, took time.Duration) {
		if !setup.IsZero() {
			a.note("    the set-up took %s, and %s", took.Round(time.Millisecond), check.Bytes(rooms.Size(dir)))
		}
		made = filepath.Dir(dir)
	}
	b, err := a.tryGate(ctx, g)
	if made != "" && setup.IsZero() {
		_ = a.rooms.Remove(made)
	}
	var changed *phases.ChangedTreeError
	var lacks *gate.NotInstalledError
	c := &initClean{setUp: !setup.IsZero()}
	switch {
	case ctx.Err() != nil, errors.As(err, &changed):
		return nil
	case err != nil:
		c.lacks = errors.As(err, &lacks)
		c.Reason = safetext.Line(strings.TrimSpace(err.Error()), 400)
		return c
	case b.Gates[0].Exit != 0 || len(b.Red) > 0:
		c.Reason = safetext.Line("it fails without the files that git ignores: "+safetext.First(b.Red, 5, ", "), 300)
		return c
	}
	return &initClean{Proves: true}
}

// sayClean explains why a gate does not pass in a clean checkout, and suggests fixes. It prints nothing if the gate
// passes there.
func sayClean(say func(string, ...any), c *initClean) {
	if c == nil || c.Proves {
		return
	}
	way := "name what it needs in clean-provide, or set clean-proof: off in " + workspace.ConfigPath
	switch {
	case c.lacks:
		way = "the set-up has to install that as well"
	case c.setUp:
		way = "let worktree: setup in " + workspace.ConfigPath +
			" install what it needs, or name it in clean-provide, or set clean-proof: off"
	}
	say("  not in a clean checkout: %s", c.Reason)
	say("  so finished work cannot be proven: %s, then wfs trust", way)
}

// checkProofs reports sessions whose work could not be tested in a clean checkout. It leaves out sessions that are
// finished or abandoned, except the current one.
func (a *app) checkProofs(ctx context.Context) (found []check.Finding, err error) {
	ids, err := sessionIDs(ctx, a.Repo)
	current, _ := a.Current(ctx)
	for _, id := range ids {
		v, err := a.View(ctx, id)
		if err != nil {
			continue // another check reports that it cannot be read
		}
		p := present.ProofOf(&v.Session)
		over := v.Session.Status == session.StatusFinished || v.Session.Status == session.StatusAbandoned
		if p == nil || p.Verdict != session.Blocked || over && current != id {
			continue
		}
		found = append(found, check.Finding{Level: check.Tells, About: "proof", Session: id, Where: session.LedgerOf(id),
			What:    safetext.Line(present.ProofLine(p), 300),
			Follows: "the work is complete, and its commit says so; if it cannot be helped: clean-provide, or clean-proof: off in the configuration, then wfs edit --reload"})
	}
	return found, err
}
