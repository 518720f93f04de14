package oplog

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// FormerOf is what an operation changed, as it was before.
func FormerOf(before, after *session.Session) session.Former {
	var f session.Former
	if before.Title != after.Title {
		f.Title = &before.Title
	}
	if before.Goal != after.Goal {
		f.Goal = &before.Goal
	}
	if b := specOf(before); !same(b, specOf(after)) {
		f.Spec = &b
	}
	if b := planOf(before); !same(b, planOf(after)) {
		f.Plan = &b
	}
	if b := standOf(before); !same(b, standOf(after)) {
		f.Stand = &b
	}
	f.Notes, f.Allowed = listBefore(before.Notes, after.Notes), listBefore(before.Allowed, after.Allowed)
	f.Settled = listBefore(before.Settlements, after.Settlements)
	if before.Budget != after.Budget {
		f.Budget = &before.Budget
	}
	return f
}

// listBefore is a list as it was before it was changed, nil when it was not. In a file it differs from nil when
// it is empty.
func listBefore[T any](before, after []T) *[]T {
	if len(before) == len(after) && (len(before) == 0 || same(before, after)) {
		return nil
	}
	list := append([]T{}, before...)
	return &list
}

// WithStand is f with where the session stood before, which going to another checkpoint changes in any case.
func WithStand(f session.Former, before *session.Session) session.Former {
	stand := standOf(before)
	f.Stand = &stand
	return f
}

// Overtaken says what somebody has changed since of what f would bring back, "" for nothing. after is the session as
// the operation left it.
func Overtaken(f session.Former, after, now *session.Session) string {
	plan, planNow := planOf(after), planOf(now)
	plan.Base0, planNow.Base0 = nil, nil // what the gates said since, by the plan that goes
	switch {
	case f.Title != nil && after.Title != now.Title:
		return fmt.Sprintf("it is now called %q", now.Headline())
	case f.Goal != nil && after.Goal != now.Goal:
		return fmt.Sprintf("its goal is now %q", now.Goal)
	case f.Spec != nil && !same(specOf(after), specOf(now)):
		return "its spec has changed since"
	case f.Plan != nil && !same(plan, planNow):
		return "its configuration has changed since"
	case f.Notes != nil && listBefore(after.Notes, now.Notes) != nil:
		return "an attempt has already used it"
	case f.Allowed != nil && listBefore(after.Allowed, now.Allowed) != nil:
		return "the allowed paths have changed since"
	case f.Budget != nil && after.Budget != now.Budget:
		return "its budget has changed since"
	case f.Stand != nil && !same(standOf(after), standOf(now)):
		if now.Phase == workflows.Done {
			return fmt.Sprintf("it has continued since, and is %s", now.Status)
		}
		return fmt.Sprintf("it has continued since, and is %s in %s", now.Status, now.Phase)
	}
	return ""
}

// bringBack makes what was so once so again.
func Restore(s *session.Session, f session.Former) {
	if f.Title != nil {
		s.Title = *f.Title
	}
	if f.Goal != nil || f.Spec != nil {
		s.Reworded = false
	}
	if f.Goal != nil {
		s.Goal = *f.Goal
	}
	if b := f.Spec; b != nil {
		s.Items, s.SpecPath, s.SpecDigest = b.Items, b.Path, b.Digest
	}
	if b := f.Plan; b != nil {
		s.Workflow, s.Start, s.Laps, s.PlanDigest, s.Agent, s.AgentTyped, s.Base0 = b.Workflow, b.Start, b.Laps,
			b.PlanDigest, b.Agent, b.AgentTyped, b.Base0
	}
	if b := f.Stand; b != nil {
		s.Status, s.Waiting, s.Blocked, s.Why = b.Status, b.Waiting, b.Blocked, b.Why
		s.Phase, s.Lap, s.Visit, s.Failed, s.Terms = b.Phase, b.Lap, b.Visit, b.Failed, b.Terms
		s.Last, s.LastGates, s.NotRun, s.LastRun = b.Last, b.LastGates, b.NotRun, b.LastRun
		s.Rounds, s.Tampered, s.TestChange, s.TestChanges = b.Rounds, b.Tampered, b.TestChange, b.TestChanges
	}
	if f.Notes != nil {
		s.Notes = *f.Notes
	}
	if f.Allowed != nil {
		s.Allowed = *f.Allowed
	}
	if f.Settled != nil {
		s.Settlements = *f.Settled
	}
	if f.Budget != nil {
		s.Budget = *f.Budget
	}
}

func specOf(s *session.Session) session.FormerSpec {
	return session.FormerSpec{Items: s.Items, Path: s.SpecPath, Digest: s.SpecDigest}
}

func planOf(s *session.Session) session.FormerPlan {
	return session.FormerPlan{Workflow: s.Workflow, Start: s.Start, Laps: s.Laps, PlanDigest: s.PlanDigest,
		Agent: s.Agent, AgentTyped: s.AgentTyped, Base0: s.Base0}
}

func standOf(s *session.Session) session.FormerStand {
	return session.FormerStand{Status: s.Status, Waiting: s.Waiting, Blocked: s.Blocked, Why: s.Why,
		Phase: s.Phase, Lap: s.Lap, Visit: s.Visit, Failed: s.Failed, Terms: s.Terms, Rounds: s.Rounds,
		Tampered: s.Tampered, TestChange: s.TestChange, TestChanges: s.TestChanges,
		Last: s.Last, LastGates: s.LastGates, NotRun: s.NotRun, LastRun: s.LastRun}
}

// same compares values as files have them: one that was read back from JSON has no empty lists.
func same(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// Alive is the status of a session that is brought back, by what is known of it.
func Alive(s *session.Session) session.Status {
	switch {
	case s.Phase == workflows.Done && s.Waiting == nil:
		return session.StatusCompleted
	case s.Blocked != nil:
		return session.StatusBlocked
	case s.Waiting != nil:
		return session.StatusWaiting
	case s.Runs == 0:
		return session.StatusCreated
	}
	return session.StatusPaused
}
