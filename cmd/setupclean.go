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

// cheapClean is how many milliseconds a gate may take in the work tree to be tried in a clean tree as well.
const cheapClean = 20_000

// initClean is the result of a gate in a clean tree during init.
type initClean struct {
	Proves bool   `json:"proves"`           // it passes there: finished work can be proven
	Reason string `json:"reason,omitempty"` // why not, in one line

	lacks, setUp bool // the set-up leaves something out, which the reason names; there is a set-up
}

// tryClean runs a gate that passed in the work tree again in a clean tree, or returns nil if that would show nothing or
// take long.
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

// sayClean explains why a gate does not pass in a clean checkout, and suggests fixes.
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
	say("  so finished work cannot be proven: %s", way)
}

// checkProofs reports open sessions, and the current one, whose work could not be proven.
func (a *app) checkProofs(ctx context.Context) (found []check.Finding, err error) {
	ids, err := sessionIDs(ctx, a.Repo)
	current, _ := a.Current(ctx)
	for _, id := range ids {
		v, err := a.View(ctx, id)
		if err != nil {
			continue // reported by the check of that session
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
