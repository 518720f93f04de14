package cmd

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

const jsonVersion = present.Version

// outlived reports whether processes of the newest run may have outlived their wfs.
func outlived(s *session.Session) bool {
	return s.Started != "" && (s.Status == session.StatusInterrupted || s.Status == session.StatusBlocked &&
		s.Blocked.Reason == session.BlockSurvivors)
}

// alive are the processes of a session's newest run that live although its wfs may be dead.
func (a *app) alive(s *session.Session) []session.Process {
	if !outlived(s) {
		return nil
	}
	return a.Engine.Works.Alive(s.ID, s.Started)
}

// describe tells of a session. in is the work tree that has it checked out, nil for none.
func (a *app) describe(s *session.Session, in *worktree.Worktree) present.Session {
	j := present.Describe(s)
	j.Alive, j.Next, j.Ways = a.alive(s), a.nextIn(s, in), a.waysOn(s, in)
	a.placed(&j, in)
	driver := ""
	if who, held, err := a.Clone.Session(s.ID).Driver(); err == nil && held {
		driver = who.Name()
		j.Driver = driverOf(who)
		switch {
		case workspace.IsRun(who):
			j.Next = []string{"wfs watch " + string(s.ID), "wfs stop " + string(s.ID)}
			if s.Status == session.StatusWaiting {
				j.Next = append(j.Next, "wfs run "+string(s.ID)+" --now")
			}
		case s.Status == session.StatusRunning:
			j.Next = []string{"wfs show " + string(s.ID)}
		}
	}
	if waiting, err := a.Clone.Session(s.ID).Inbox().Requests(); err == nil {
		for _, r := range waiting {
			if r.Driver == "" || r.Driver == driver { // one that its run did not live to see is void
				j.Requests++
			}
		}
	}
	return j
}

// placed says which work tree has a session checked out, nil for none.
func (a *app) placed(j *present.Session, in *worktree.Worktree) {
	if in != nil {
		j.Worktree, j.Gone = in.Path, in.Gone
		j.Current = !in.Gone && in.ID == a.Repo.Worktree()
	}
}

// describeOwn describes the session that this process drives, in its work tree.
func (a *app) describeOwn(s *session.Session) present.Session {
	d := a.describe(s, a.Here())
	d.Driver, d.Next = nil, a.nextFor(s)
	return d
}

// nextFor are nextCommands for a session that the command acts on in its own work tree. HEAD may have been taken away.
func (a *app) nextFor(s *session.Session) []string {
	in := a.Here()
	if head, err := a.Repo.Head(context.Background()); err == nil && head.Ref != s.Branch() {
		in = nil
	}
	return a.nextIn(s, in)
}

// nextIn are nextCommands as they have to be typed. in is the work tree that has the session checked out, nil for none.
func (a *app) nextIn(s *session.Session, in *worktree.Worktree) []string {
	way := ""
	if in == nil || in.Gone {
		way = "wfs resume " + string(s.ID)
		if head, err := a.Repo.Head(context.Background()); err == nil {
			way = engine.WayTo(head, s.ID)
		}
	}
	next := present.NextCommands(s, a.alive(s), way)
	for i := range next {
		next[i] = a.typedFor(next[i], s.ID, rootOf(in))
	}
	return next
}

// rootOf is the path of a work tree that is there, "" for none.
func rootOf(in *worktree.Worktree) string {
	if in == nil || in.Gone {
		return ""
	}
	return in.Path
}

// waysOn are the ways on for a session that its breaker or failing runs have stopped, nil for others. in is the
// work tree that has it checked out, nil for none.
func (a *app) waysOn(s *session.Session, in *worktree.Worktree) []present.Way {
	var ways []present.Way
	switch {
	case s.Status != session.StatusBlocked:
	case s.Blocked.Reason == session.BlockBreaker:
		ways = present.WaysOfBreaker(s)
	case s.Blocked.Reason == session.BlockRunner && s.Failed > 0:
		ways = a.waysOfRunner(s)
	}
	for i := range ways {
		ways[i].Command = a.typedFor(ways[i].Command, s.ID, rootOf(in))
	}
	return ways
}

// waysOfRunner are those for a session whose runs fail.
func (a *app) waysOfRunner(s *session.Session) []present.Way {
	other := present.Way{What: "other agent", Command: "wfs edit --agent 'ANOTHER COMMAND' && wfs run"}
	if v, err := a.View(context.Background(), s.ID); err == nil {
		plan, err := a.planAt(context.Background(), v)
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
