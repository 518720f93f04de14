package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/present/ways"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/session"
)

// recoveryOf says what an interruption cut off in the session of this work tree, and how the user can continue. It
// returns nil if the session was not interrupted, or is not checked out here. `d.Next` must be complete.
func (a *statusVerb) recoveryOf(ctx context.Context, d *present.Session, in *worktree.Worktree) *ways.Recovery {
	s := d.Of
	if !d.Current || d.Driver != nil || len(d.Next) == 0 || !outlived(s) && s.Status != session.StatusInterrupted {
		return nil
	}
	if what, _ := a.HalfMoved(ctx); what != "" {
		return nil // the next command completes that first
	}
	c := &recoverer{statusVerb: a, ctx: ctx, s: s, root: rootOf(in), alive: d.Alive, r: &ways.Recovery{
		Step: "checkpoint", Complete: true, LastSign: unix(s.UpdatedAt).UTC()}}
	c.look()
	c.offer(d.Next)
	if c.err != nil {
		return nil // only for display: the next commands are printed in its place
	}
	return c.r
}

// recoverer collects the facts about one interruption.
type recoverer struct {
	*statusVerb
	ctx   context.Context
	s     *session.Session
	root  string
	alive []session.Process
	open  int64 // milliseconds that the open attempt's run worked
	r     *ways.Recovery
	err   error
}

// look finds out what was cut off, and when.
func (c *recoverer) look() {
	o := c.s.Open
	if o == nil {
		return
	}
	c.open = c.Engine.Works.Left(c.s.ID, o.RunID).Usage.Millis
	c.r.Attempt, c.r.Step, c.r.Complete = o.Attempt, "attempt", false
	switch {
	case o.Judgement != nil:
		c.r.Step = "verdict"
	case o.Run != nil:
		c.r.Step = "gates"
	default:
		c.r.LastSign = c.r.LastSign.Add(time.Duration(c.open) * time.Millisecond)
	}
}

// offer lists the user's options: keep the files, or go back to a backup, to the last checkpoint, to where the phase or
// the lap began, or begin again in a second session.
func (c *recoverer) offer(next []string) {
	now := c.differs(c.s.At(c.s.Current).Code)
	now.Millis = c.open
	back := c.typedFor("wfs resume --backup", c.s.ID, c.root)
	complete := next[slices.IndexFunc(next, func(n string) bool { return n != back })]
	last := ways.BeforeInterruption(c.s)
	kept := now
	kept.Checkpoints = c.below(c.s.Current)
	c.add(ways.Option{Type: "complete", What: "keep all", Command: complete, Checkpoint: c.s.Current,
		Keeps: kept, Recommended: next[0] != back})
	if auto, err := c.Engine.FindAuto(c.ctx, c.s.ID); err == nil {
		if at := unix(auto.At).UTC(); at.After(c.r.LastSign) {
			c.r.LastSign = at
		}
		lost := c.differs(auto.Code)
		lost.Millis = max(0, c.r.LastSign.Sub(unix(auto.At)).Milliseconds())
		if lost.Files > 0 {
			c.add(ways.Option{Type: "backup", What: "backup of " + present.Ago(unix(auto.At), c.env.Now()),
				Command: c.first(back), Checkpoint: auto.Checkpoint, Loses: lost, Recommended: next[0] == back,
				Keeps: ways.Amount{Checkpoints: c.below(auto.Checkpoint), Files: auto.Changes}})
		}
	}
	phase, lap := ways.Begins(c.s, last)
	if now.Files > 0 {
		c.back("checkpoint", "last checkpoint", c.s.Current)
	}
	if last != c.s.Current {
		c.back("checkpoint", "before the attempt", last)
	}
	if phase != last {
		c.back("phase", "start of "+string(c.s.Phase), phase)
	}
	if lap != phase {
		c.back("lap", fmt.Sprintf("start of lap %d", c.s.Lap), lap)
	}
	c.add(ways.Option{Type: "fresh", What: "a second session",
		Command: c.first(c.typed(fmt.Sprintf("wfs fork %s@0", c.s.ID))), Keeps: kept})
}

// back offers to go back to checkpoint n.
func (c *recoverer) back(kind, what string, n int) {
	lost := c.differs(c.s.At(n).Code)
	lost.Millis = c.open
	for _, cp := range c.s.Way() {
		if cp.Number > n {
			lost.Checkpoints, lost.Millis = lost.Checkpoints+1, lost.Millis+cp.Used.Millis
		}
	}
	c.add(ways.Option{Type: kind, What: what, Checkpoint: n, Loses: lost,
		Command: c.first(c.typedFor(fmt.Sprintf("wfs resume @%d", n), c.s.ID, c.root)),
		Keeps:   ways.Amount{Checkpoints: c.below(n)}})
}

func (c *recoverer) add(o ways.Option) { c.r.Options = append(c.r.Options, o) }

// below returns how many checkpoints the session has between its birth and checkpoint n, which counts.
func (c *recoverer) below(n int) (sum int) {
	for _, cp := range c.s.Way() {
		if cp.Number > 0 && cp.Number <= n {
			sum++
		}
	}
	return sum
}

// first returns a command that moves files, after one that ends the processes that may still write to them.
func (c *recoverer) first(command string) string {
	if ids := decide.Numbers(decide.Known(c.alive)); ids != "" {
		return "kill" + ids + "; " + command
	}
	return command
}

// differs measures how the work tree differs from a commit.
func (c *recoverer) differs(from session.Commit) ways.Amount {
	files, err := c.Repo.EditedLines(c.ctx, from, c.Clone.Session(c.s.ID).ExcludeFile())
	if err != nil {
		c.err = err
	}
	return ways.AmountOf(slices.DeleteFunc(files, func(f session.FileLines) bool {
		return leftOut(c.s.At(c.s.Current), f.Path)
	}))
}

// leftOut reports whether a file is never in checkpoints, as far as checkpoint c shows.
func leftOut(c *session.Checkpoint, path string) bool {
	in := func(p string) bool { return path == p || strings.HasPrefix(path, strings.TrimSuffix(p, "/")+"/") }
	return slices.ContainsFunc(c.Skipped, func(x session.Skip) bool { return in(x.Path) }) ||
		slices.ContainsFunc(c.HeldOut, func(x session.Held) bool { return in(x.Path) })
}
