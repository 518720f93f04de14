package oplog

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// FormerOf returns the values that differ between the session before and after an operation, as they were before it.
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

// listBefore returns the list before an operation, nil if the operation did not change it. A changed list that was
// empty is returned as an empty list, not nil, so that JSON distinguishes both cases.
func listBefore[T any](before, after []T) *[]T {
	if len(before) == len(after) && (len(before) == 0 || same(before, after)) {
		return nil
	}
	list := append([]T{}, before...)
	return &list
}

// WithStand returns f with the phase, lap and status of the session before an operation. It is for moves to another
// checkpoint, which always change them.
func WithStand(f session.Former, before *session.Session) session.Former {
	stand := standOf(before)
	f.Stand = &stand
	return f
}

// Overtaken returns a message if a later operation has changed a value that f would restore, "" otherwise. `after` is
// the session right after the operation that f belongs to.
func Overtaken(f session.Former, after, now *session.Session) string {
	was, is := *after, *now
	// not compared: the gates may have run on the base since, with the plan that the undo removes
	was.Base0, is.Base0 = nil, nil
	since := FormerOf(&was, &is)
	switch {
	case both(f.Title, since.Title):
		return fmt.Sprintf("%s is now called %q", now.ID, now.Headline())
	case both(f.Goal, since.Goal):
		return fmt.Sprintf("the goal is now %q", now.Goal)
	case both(f.Spec, since.Spec):
		return "the spec has changed since"
	case both(f.Plan, since.Plan):
		return "the configuration has changed since"
	case both(f.Notes, since.Notes):
		return "an attempt has already used it"
	case both(f.Allowed, since.Allowed):
		return "the allowed paths have changed since"
	case both(f.Budget, since.Budget):
		return "the budget has changed since"
	case !both(f.Stand, since.Stand):
		return ""
	}
	if now.Phase == workflows.Done {
		return fmt.Sprintf("%s has continued since, and is %s", now.ID, now.Status)
	}
	return fmt.Sprintf("%s has continued since, and is %s in %s", now.ID, now.Status, now.Phase)
}

// both reports whether both values are set.
func both[T any](a, b *T) bool { return a != nil && b != nil }

// Restore sets those values of the session that f has.
func Restore(s *session.Session, f session.Former) {
	restore(&s.Title, f.Title)
	if f.Goal != nil || f.Spec != nil {
		s.Reworded = false
	}
	restore(&s.Goal, f.Goal)
	if b := f.Spec; b != nil {
		s.Items, s.SpecPath, s.SpecDigest = b.Items, b.Path, b.Digest
	}
	if b := f.Plan; b != nil {
		s.Workflow, s.Start, s.Then, s.Laps, s.PlanDigest, s.Agent, s.AgentTyped, s.Base0 = b.Workflow, b.Start,
			b.Then, b.Laps, b.PlanDigest, b.Agent, b.AgentTyped, b.Base0
	}
	if b := f.Stand; b != nil {
		s.Status, s.Waiting, s.Blocked, s.Why = b.Status, b.Waiting, b.Blocked, b.Why
		s.Phase, s.Lap, s.Visit, s.Failed, s.Terms = b.Phase, b.Lap, b.Visit, b.Failed, b.Terms
		s.Last, s.LastGates, s.NotRun, s.LastRun = b.Last, b.LastGates, b.NotRun, b.LastRun
		s.Rounds, s.Tampered, s.TestChange, s.TestChanges = b.Rounds, b.Tampered, b.TestChange, b.TestChanges
	}
	restore(&s.Notes, f.Notes)
	restore(&s.Allowed, f.Allowed)
	restore(&s.Settlements, f.Settled)
	restore(&s.Budget, f.Budget)
}

func restore[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func specOf(s *session.Session) session.FormerSpec {
	return session.FormerSpec{Items: s.Items, Path: s.SpecPath, Digest: s.SpecDigest}
}

func planOf(s *session.Session) session.FormerPlan {
	return session.FormerPlan{Workflow: s.Workflow, Start: s.Start, Then: s.Then, Laps: s.Laps, PlanDigest: s.PlanDigest,
		Agent: s.Agent, AgentTyped: s.AgentTyped, Base0: s.Base0}
}

func standOf(s *session.Session) session.FormerStand {
	return session.FormerStand{Status: s.Status, Waiting: s.Waiting, Blocked: s.Blocked, Why: s.Why,
		Phase: s.Phase, Lap: s.Lap, Visit: s.Visit, Failed: s.Failed, Terms: s.Terms, Rounds: s.Rounds,
		Tampered: s.Tampered, TestChange: s.TestChange, TestChanges: s.TestChanges,
		Last: s.Last, LastGates: s.LastGates, NotRun: s.NotRun, LastRun: s.LastRun}
}

// same reports whether two values are equal in JSON. Comparing them in Go would fail, because decoding from JSON turns
// empty lists into nil.
func same(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// Alive returns the status that a session gets when it is revived, derived from its other fields.
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
