package present

import (
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/cmd/internal/present/ways"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// NextCommands lists the commands that make sense next, the best one first. `alive` are processes of the newest run
// that still live. `way` is the command that makes the session current; it is "" if the session is current already.
func NextCommands(s *session.Session, alive []session.Process, way string) []string {
	id := string(s.ID)
	switch {
	case s.Status == session.StatusAbandoned:
		return []string{"wfs resume " + id}
	case s.Status == session.StatusFinished:
		return []string{"wfs show " + id}
	case way != "":
		return []string{way}
	}
	switch s.Status {
	case session.StatusBlocked:
		switch {
		case s.Blocked.Reason == session.BlockSurvivors:
			return []string{decide.Ending(s, alive), "wfs show"}
		case s.Blocked.Hint == "wfs resume "+id, // HEAD is already back on its branch
			s.Reworded && s.Blocked.Reason == session.BlockBreaker: // the goal or spec has changed
			return []string{"wfs run", "wfs show"}
		}
		return []string{s.Blocked.Hint, "wfs show"}
	case session.StatusWaiting:
		switch {
		case s.Waiting.Agree:
			next := []string{"wfs approve"}
			if f := FinishCommand(s); f != "" {
				next = append(next, f)
			}
			return append(next, `wfs reject -m "what is still missing"`)
		case s.Waiting.Question != nil:
			return []string{"wfs approve", `wfs reject -m "what is to be done"`, "wfs diff"}
		case s.Waiting.Approve:
			return []string{"wfs diff", "wfs approve", `wfs reject -m "what is to be done"`}
		}
		if s.Waiting.Reason == session.WaitHuman {
			return []string{`wfs run --note "your answer"`}
		}
		return []string{"wfs run", "wfs run --now"}
	case session.StatusCompleted:
		if Unjudged(s) || s.AsksMore() {
			return []string{"wfs run"}
		}
		if f := FinishCommand(s); f != "" {
			return []string{"wfs diff", f}
		}
		return []string{"wfs show", "wfs abandon"}
	case session.StatusRunning:
		return []string{"wfs show"}
	case session.StatusInterrupted:
		return []string{"wfs run", fmt.Sprintf("wfs resume @%d", ways.BeforeInterruption(s))}
	}
	return []string{"wfs run"}
}

// FinishCommand returns the command that hands over a session's work in its present state. It returns "" if the session
// has changed nothing.
func FinishCommand(s *session.Session) string {
	first, now := s.At(0), s.At(s.Current)
	switch {
	case first != nil && now != nil && first.Tree == now.Tree && s.Fork == nil && len(s.Carried) == 0:
		return ""
	case items.Less(s):
		return `wfs finish --anyway "why"`
	}
	return "wfs finish"
}

// Way is one option that a user has for a stopped session, with the command for it.
type Way struct {
	What    string `json:"what"`
	Command string `json:"command"`
}

// WithoutIt lists the options that give something up: the judgement of the current phase, or the whole work.
func WithoutIt(s *session.Session) []Way {
	return []Way{
		{fmt.Sprintf("pass %s unjudged", s.Phase), `wfs approve --anyway "why"`},
		{"give up", `wfs abandon -m "why"`},
	}
}

// testsFrom returns the checkpoint in which the tests of the current lap were written, or nil. Those tests may have
// been edited by hand after that checkpoint.
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

// WaysOfBreaker lists the user's options for a session that its breaker has stopped. The breaker stops a session after
// several attempts without progress.
func WaysOfBreaker(s *session.Session) (ways []Way) {
	add := func(is bool, what, command string) {
		if is {
			ways = append(ways, Way{what, command})
		}
	}
	at := s.At(s.Current)
	if i := slices.IndexFunc(at.Skipped, func(f session.Skip) bool { return f.Rule != "" }); i >= 0 {
		add(true, "let the file in", "wfs allow "+safetext.ShellWord(at.Skipped[i].Path)+" && wfs run")
	}
	if r := s.LastResult; r != nil {
		add(s.Visit.Denied > 0, "permit it in .wfs, then", s.Repin(r.Agent)+" && wfs run")
	}
	add(true, "hint", `wfs run --note "what to do differently"`)
	add(true, "try again", "wfs run --reset-breaker")
	add(!s.Blocked.Answered, "judge it as it is", "wfs approve")
	if c := testsFrom(s); c != nil {
		add(c.Phase != s.Phase, "wrong test", fmt.Sprintf(`wfs reject --to %s -m "what is wrong with it"`, c.Phase))
	}
	var passed, ended session.Checkpoint // newest checkpoint that passed; newest that ended a lap
	var began session.Checkpoint         // newest checkpoint with the files with which the lap began
	for _, c := range s.Way() {
		if c.Tree == s.LapTree {
			began = c
		}
		if c.Number > 0 && c.Trigger == session.TriggerAttempt && c.Verdict == session.Pass {
			passed = c
			if c.Green && (c.Next == workflows.Done || c.NextLap > c.Lap) {
				ended = c
			}
		}
	}
	from := s.Current
	back := func(n int, got string) {
		from = n
		add(true, fmt.Sprintf("back to @%d%s", n, got), fmt.Sprintf("wfs resume @%d", n))
	}
	switch {
	case passed.Number > 0 && passed.Tree != at.Tree:
		back(passed.Number, "")
	case passed.Number == 0 && began.Tree != "" && began.Tree != at.Tree:
		back(began.Number, ", with the files as the lap began")
	}
	if best := s.Furthest(); best != nil {
		back(best.Number, gotTo(s))
	}
	if f := FinishCommand(s); f != "" {
		add(ended.Number > 0 && s.Then == "", fmt.Sprintf("take up to lap %d", ended.Lap),
			fmt.Sprintf("wfs resume @%d && %s", ended.Number, f))
	}
	what := "another session"
	if from != s.Current {
		what = fmt.Sprintf("start from @%d", from)
	}
	add(true, what, fmt.Sprintf("wfs fork %s@%d", s.ID, from))
	return append(ways, WithoutIt(s)...)
}

// gotTo says how far the best attempt at the current phase got, such as " (2 new tests pass)".
func gotTo(s *session.Session) string {
	r := s.Visit.BestHas
	for _, x := range []struct {
		n         int
		one, many string
	}{{r.Targets, "new test passes", "new tests pass"}, {r.Tests, "test passes", "tests pass"}, {r.Gates,
		"gate passes", "gates pass"}} {
		if x.n > 0 {
			return fmt.Sprintf(" (%d %s)", x.n, safetext.Word(x.n, x.one, x.many))
		}
	}
	if r.Ran {
		return " (the tests could be run)"
	}
	return ""
}
