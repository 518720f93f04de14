package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// wayJSON is one way on from where a session was stopped, and the command that takes it.
type wayJSON struct {
	What    string `json:"what"`
	Command string `json:"command"`
}

// waysOn are the ways on for a session that its breaker or failing runs have stopped, nil for others. in is the work tree that
// has it checked out, nil for none.
func (a *app) waysOn(s *session.Session, in *gitstate.Worktree) []wayJSON {
	var ways []wayJSON
	switch {
	case s.Status != session.StatusBlocked:
	case s.Blocked.Reason == session.BlockBreaker:
		ways = waysOfBreaker(s)
	case s.Blocked.Reason == session.BlockRunner && s.Failed > 0:
		ways = a.waysOfRunner(s)
	}
	for i := range ways {
		ways[i].Command = a.typedFor(ways[i].Command, s.ID, rootOf(in))
	}
	return ways
}

// waysOfRunner are those for a session whose runs fail.
func (a *app) waysOfRunner(s *session.Session) []wayJSON {
	other := wayJSON{"other agent", "wfs edit --agent 'ANOTHER COMMAND' && wfs run"}
	if v, err := a.View(context.Background(), s.ID); err == nil {
		plan, err := a.planAt(context.Background(), v)
		if err != nil {
			return nil
		}
		if ph := plan.Workflow.Phase(s.Phase); ph != nil && (ph.Run.Name != "" || !ph.Run.Agent) {
			other = wayJSON{fmt.Sprintf("change the agent of %s in .wfs, then", s.Phase), "wfs edit --reload && wfs run"}
		}
	}
	return append([]wayJSON{{"what it did", "wfs show --run"}, {"try again", "wfs run"}, other}, withoutIt(s)...)
}

// withoutIt are the ways on without the present phase, and without the work.
func withoutIt(s *session.Session) []wayJSON {
	return []wayJSON{
		{fmt.Sprintf("pass %s unjudged", s.Phase), `wfs approve --anyway "why"`},
		{"give up", `wfs abandon -m "why"`},
	}
}

// testsFrom is where the tests of a lap were written, nil for none. They may have been edited by hand since.
func testsFrom(s *session.Session) *session.Checkpoint {
	if at := s.TestsAt(); at != nil || s.Frozen == "" {
		return at
	}
	for i, c := range s.Checkpoints {
		if c.Lap == s.Lap && c.Verdict == session.Pass && c.Next != c.Phase && c.NextLap == c.Lap {
			return &s.Checkpoints[i]
		}
	}
	return nil
}

// waysOfBreaker are those for a session that its breaker has stopped.
func waysOfBreaker(s *session.Session) []wayJSON {
	ways := []wayJSON{
		{"hint", `wfs run --note "what to do differently"`},
		{"try again", "wfs run --reset-breaker"},
	}
	if !s.Blocked.Answered {
		ways = append(ways, wayJSON{"judge it as it is", "wfs approve"})
	}
	if c := testsFrom(s); c != nil && c.Phase != s.Phase {
		ways = append(ways, wayJSON{"wrong test", fmt.Sprintf(`wfs reject --to %s -m "what is wrong with it"`, c.Phase)})
	}
	from, what := s.Current, "another session"
	var passed, ended session.Checkpoint // the newest that passed, and that ended a lap
	for _, c := range s.Way() {
		if c.Number == 0 || c.Trigger != session.TriggerAttempt || c.Verdict != session.Pass {
			continue
		}
		passed = c
		if c.Green && (c.Next == workflows.Done || c.NextLap > c.Lap) {
			ended = c
		}
	}
	back := func(n int) string { return fmt.Sprintf("wfs resume @%d", n) }
	if passed.Number > 0 && passed.Tree != s.At(s.Current).Tree {
		from = passed.Number
		ways = append(ways, wayJSON{fmt.Sprintf("back to @%d", from), back(from)})
	}
	if best := s.Furthest(); best != nil {
		from = best.Number
		ways = append(ways, wayJSON{fmt.Sprintf("back to @%d%s", from, gotTo(s)), back(from)})
	}
	if from != s.Current {
		what = fmt.Sprintf("start from @%d", from)
	}
	if f := finishCommand(s); f != "" && ended.Number > 0 {
		ways = append(ways, wayJSON{fmt.Sprintf("take up to lap %d", ended.Lap), back(ended.Number) + " && " + f})
	}
	ways = append(append(ways, wayJSON{what, fmt.Sprintf("wfs fork %s@%d", s.ID, from)}), withoutIt(s)...)
	if r := s.LastResult; r != nil && s.Visit.Denied > 0 {
		ways = append([]wayJSON{{"permit it in .wfs, then", s.Repin(r.Agent) + " && wfs run"}}, ways...)
	}
	if c := s.At(s.Current); c != nil {
		for _, f := range c.Skipped {
			if f.Rule != "" {
				ways = append([]wayJSON{{"let the file in", "wfs allow " + shellWord(f.Path) + " && wfs run"}}, ways...)
				break
			}
		}
	}
	return ways
}

// gotTo says how far the best attempt at a visit got.
func gotTo(s *session.Session) string {
	switch r := s.Visit.BestHas; {
	case r.Targets > 0:
		return fmt.Sprintf(" (%d %s)", r.Targets, plural(r.Targets, "new test passes", "new tests pass"))
	case r.Tests > 0:
		return fmt.Sprintf(" (%d %s)", r.Tests, plural(r.Tests, "test passes", "tests pass"))
	case r.Gates > 0:
		return fmt.Sprintf(" (%d %s)", r.Gates, plural(r.Gates, "gate passes", "gates pass"))
	case r.Ran:
		return " (the tests could be run)"
	}
	return ""
}

// sayOn prints how to go on: the ways on from where a session was stopped, or what to type next.
func (a *app) sayOn(s *session.Session, next []string) {
	ways := a.waysOn(s, a.Here())
	if len(ways) == 0 {
		a.next(next)
		return
	}
	wide := 0
	for _, w := range ways {
		wide = max(wide, safetext.Width(w.What))
	}
	a.out("\nways on")
	for _, w := range ways {
		if a.env.Width > 0 && wide+4+safetext.Width(w.Command) > a.env.Width {
			a.out("  %s\n      %s", w.What, w.Command)
			continue
		}
		a.out("  %s  %s", pad(w.What, wide), w.Command)
	}
	if len(next) > 0 && !slices.ContainsFunc(ways, func(w wayJSON) bool { return w.Command == next[0] }) {
		a.next(next)
		return
	}
	a.out("look: %s", a.typedFor(fmt.Sprintf("wfs show %s@%d", s.ID, s.Current), s.ID, rootOf(a.Here())))
}

// claimsText is what came of an agent's claims to be done, "" when it made none.
func claimsText(claims, refuted int) string {
	if claims == 0 {
		return ""
	}
	return fmt.Sprintf("said done %d %s, %d true", claims, plural(claims, "time", "times"), claims-refuted)
}

// sayReview tells what a reviewer said.
func (a *app) sayReview(r *session.Review) {
	if r == nil {
		return
	}
	a.out("the reviewer says: %s%s", r.Verdict, by(r.By))
	for _, f := range r.Findings {
		at := f.Path
		if at != "" && f.Line > 0 {
			at += ":" + itoa(f.Line)
		}
		if at != "" {
			at += ": "
		}
		a.out("  %s%s", at, f.What)
	}
	if r.More > 0 {
		a.out("  and %d more", r.More)
	}
}

func triedBy(agent string) string {
	if agent == "" {
		return ""
	}
	return " by " + agent
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " (" + who + ")"
}

// sayForced names the phases that a person left without their verdict: whoever sees the work must know.
func (a *app) sayForced(skipped []session.SkippedPhase) {
	for _, p := range skipped {
		what := "was skipped"
		if p.Anyway {
			what = "passed, not judged,"
		}
		a.out("forced: %s %s in lap %d by a person: %s", p.Phase, what, p.Lap, cmp.Or(p.Why, "no reason given"))
	}
}
