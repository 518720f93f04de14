package cmd

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/gitstate/worktree"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

const jsonVersion = present.Version

// outlived reports whether processes of the newest run may still live although the wfs that started them has died.
func outlived(s *session.Session) bool {
	return s.Started != "" && (s.Status == session.StatusInterrupted || s.Status == session.StatusBlocked &&
		s.Blocked.Reason == session.BlockSurvivors)
}

// describer describes sessions as seen from one work tree: what is current, and which commands make sense there.
type describer struct {
	w    *workspace.Workspace
	hint *hints
}

// seen describes a session. It also returns the work tree that has the session checked out, or nil.
func (d *describer) seen(ctx context.Context, s *session.Session) (j present.Session, in *worktree.Worktree,
	err error) {
	if in, err = d.w.PlaceOf(ctx, s.ID); err != nil {
		return j, nil, err
	}
	return d.describe(s, in), in, nil
}

// alive returns the processes of a session's newest run that still live although their wfs has died. For a session
// without such a run it returns nil.
func (d *describer) alive(s *session.Session) []session.Process {
	if !outlived(s) {
		return nil
	}
	return d.w.Engine.Works.Alive(s.ID, s.Started)
}

// describe describes a session. `in` is the work tree that has the session checked out, or nil.
func (d *describer) describe(s *session.Session, in *worktree.Worktree) present.Session {
	j := present.Describe(s)
	j.Alive, j.Next, j.Ways = d.alive(s), d.nextIn(s, in), d.waysOn(s, in)
	d.placed(&j, in)
	driver := ""
	if who, held, err := d.w.Clone.Session(s.ID).Driver(); err == nil && held {
		driver = who.Name()
		j.Driver = driverOf(who)
		j.Next = nextDriven(s, who, j.Next)
	}
	if waiting, err := d.w.Clone.Session(s.ID).Inbox().Requests(); err == nil {
		for _, r := range waiting {
			if r.Driver == "" || r.Driver == driver { // ignore requests to a run that has ended
				j.Requests++
			}
		}
	}
	return j
}

// placed adds the work tree `in` that has the session checked out. It adds nothing if `in` is nil.
func (d *describer) placed(j *present.Session, in *worktree.Worktree) {
	if in != nil {
		j.Worktree, j.Gone = in.Path, in.Gone
		j.Current = !in.Gone && in.ID == d.w.Repo.Worktree()
	}
}

// nextDriven lists the next commands for a session while another process holds the session's lock.
func nextDriven(s *session.Session, who registry.Holder, next []string) []string {
	switch {
	case workspace.IsRun(who) && s.Status == session.StatusWaiting:
		return []string{"wfs watch " + string(s.ID), "wfs stop " + string(s.ID), "wfs run " + string(s.ID) + " --now"}
	case workspace.IsRun(who):
		return []string{"wfs watch " + string(s.ID), "wfs stop " + string(s.ID)}
	case s.Status == session.StatusRunning:
		return []string{"wfs show " + string(s.ID)}
	}
	return next
}

// describeOwn describes the session that this process itself has open, so that it does not appear to be in use.
func (d *describer) describeOwn(s *session.Session) present.Session {
	j := d.describe(s, d.w.Here())
	j.Driver, j.Next = nil, d.nextFor(s)
	return j
}

// nextFor lists the next commands for the session of this work tree. If HEAD has left the session's branch, the first
// command returns to it.
func (d *describer) nextFor(s *session.Session) []string {
	in := d.w.Here()
	if head, err := d.w.Repo.Head(context.Background()); err == nil && head.Ref != s.Branch() {
		in = nil
	}
	return d.nextIn(s, in)
}

// nextIn lists the next commands in the form in which the user has to type them here. `in` is the session's work tree,
// or nil.
func (d *describer) nextIn(s *session.Session, in *worktree.Worktree) []string {
	way := ""
	if in == nil || in.Gone {
		way = "wfs resume " + string(s.ID)
		if head, err := d.w.Repo.Head(context.Background()); err == nil {
			way = checkpoint.WayTo(head, s.ID)
		}
	}
	next := present.NextCommands(s, d.alive(s), way)
	for i := range next {
		next[i] = d.hint.typedFor(next[i], s.ID, rootOf(in))
	}
	return next
}

// rootOf returns the path of a work tree. It returns "" if the work tree is nil or no longer exists.
func rootOf(in *worktree.Worktree) string {
	if in == nil || in.Gone {
		return ""
	}
	return in.Path
}

// waysOn returns the user's options for a session that stopped because of its breaker or because its runs fail. It
// returns nil for other sessions. `in` is the session's work tree, or nil.
func (d *describer) waysOn(s *session.Session, in *worktree.Worktree) []present.Way {
	var ways []present.Way
	switch {
	case s.Status != session.StatusBlocked:
	case s.Blocked.Reason == session.BlockBreaker:
		ways = present.WaysOfBreaker(s)
	case s.Blocked.Reason == session.BlockRunner && s.Failed > 0:
		ways = d.waysOfRunner(s)
	}
	for i := range ways {
		ways[i].Command = d.hint.typedFor(ways[i].Command, s.ID, rootOf(in))
	}
	return ways
}

// waysOfRunner lists the user's options for a session whose runs fail.
func (d *describer) waysOfRunner(s *session.Session) []present.Way {
	other := present.Way{What: "other agent", Command: "wfs edit --agent 'ANOTHER COMMAND' && wfs run"}
	if v, err := d.w.View(context.Background(), s.ID); err == nil {
		plan, err := d.w.PinnedPlan(context.Background(), v)
		if err != nil {
			return nil
		}
		if ph := plan.Workflow.Phase(s.Phase); ph != nil && (ph.Run.Name != "" || !ph.Run.Agent) {
			other = present.Way{What: fmt.Sprintf("change the agent of %s in .wfs, then", s.Phase),
				Command: "wfs edit --reload && wfs run"}
		}
	}
	return append([]present.Way{{What: "what it did", Command: "wfs show --run"},
		{What: "try again", Command: "wfs run"}, other}, present.WithoutIt(s)...)
}

func driverOf(who registry.Holder) *present.Driver {
	return &present.Driver{PID: who.PID, Command: who.Command}
}
