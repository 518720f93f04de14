package brief

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/checklist"
)

// work begins the story of the golden briefs: a session of a built-in workflow, an agent, a phase.
func work(t *testing.T, workflow, phase, agent string) session.RunRequest {
	t.Helper()
	text, ok := workflows.BuiltinText(workflow)
	if !ok {
		t.Fatal(workflow)
	}
	wf, findings := workflows.ParseWorkflow(workflow+".yaml", text)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	tests := workflows.Gate{Name: "tests", Run: workflows.Command{Shell: "go test -json ./..."}, Format: workflows.FormatGoTest}
	left := func(at []workflows.Complexity) bool { return len(at) > 0 && !slices.Contains(at, workflows.Medium) }
	wf.Phases = slices.DeleteFunc(wf.Phases, func(p workflows.Phase) bool { return left(p.Complexity) })
	for i := range wf.Phases {
		wf.Phases[i].Gates = slices.DeleteFunc(wf.Phases[i].Gates, func(g workflows.Gate) bool { return left(g.Complexity) })
		for j, g := range wf.Phases[i].Gates {
			if g.Use == workflows.UseAll {
				tests.Expect = g.Expect
				wf.Phases[i].Gates[j] = tests
			}
		}
	}
	r := session.RunRequest{
		Session: session.Session{Created: session.Created{ID: "slugs", Goal: "Slugs of titles", Laps: workflow == "tdd" || workflow == "loop", SpecPath: "SPEC.md",
			Base: "5f0c3a1e9b7d", Items: []string{"Make lowers the letters of a title", "Make turns blanks into hyphens"}}, Lap: 1},
		Spec:    []byte("# Slugs\n\nA slug stands in URLs: small letters, hyphens, no blanks.\n\n- [ ] Make lowers the letters of a title\n- [ ] Make turns blanks into hyphens\n"),
		Phase:   *wf.Phase(session.PhaseName(phase)),
		Started: session.AttemptStarted{Number: 1, Phase: session.PhaseName(phase), Lap: 1, Attempt: 1, RunID: "r1"},
		RunDir:  "run",
		Plan:    workflows.Plan{Workflow: *wf},
		Lines:   map[int][]session.FileLines{},
	}
	if agent != "command" {
		r.Plan.Agent.Card = workflows.BuiltinCards()[agent]
	}
	if agent == "claude" || agent == "opencode" {
		for _, c := range []string{"go test", "go vet", "gofmt"} {
			r.Plan.Agent.Allow = append(r.Plan.Agent.Allow, r.Plan.Agent.Card.Permission(c))
		}
	}
	r.Session.Checkpoints = []session.Checkpoint{{}}
	return r
}

// judged adds an attempt to a session.
func judged(r *session.RunRequest, phase string, attempt int, v session.Verdict, c session.Class, claimed bool, lines ...session.FileLines) {
	s := &r.Session
	n := len(s.Checkpoints)
	s.Checkpoints = append(s.Checkpoints, session.Checkpoint{Number: n, On: n - 1, Phase: session.PhaseName(phase), Lap: 1, Attempt: attempt,
		Verdict: v, Class: c, Code: session.Commit(fmt.Sprintf("%07d", 1110000+n))})
	s.Current = n
	r.Lines[n] = lines
	if claimed {
		s.Refuted = append(s.Refuted, session.Refuted{Checkpoint: n, Phase: session.PhaseName(phase), Lap: 1})
	}
	s.Last, s.LastGates = &session.Decided{Verdict: v, Class: c, Reason: "what wfs found, in one sentence"}, nil
	r.Started.Number++
	if string(r.Phase.Name) == phase {
		r.Started.Attempt = attempt + 1
	}
}

var lowers = []session.TestID{"example.org/slug.TestMakeLowers"}

// red adds a RED that passed.
func red(r *session.RunRequest) []report.Failure {
	judged(r, "RED", 1, session.Pass, session.ClassTargetFailed, false, session.FileLines{Path: "lower_test.go", Added: 11})
	r.Session.Targets = lowers
	r.Session.LastGates = []session.GateResult{{Gate: "tests", Verdict: session.Pass, Class: session.ClassTargetFailed, Counts: session.Counts{Passed: 40, Failed: 1}}}
	return failure()
}

func failure() []report.Failure {
	return []report.Failure{{Gate: "tests", Test: lowers[0], Status: session.TestFail, Message: `lower_test.go:8: Make("Hello") = "Hello", want "hello"`}}
}

// green adds a GREEN that failed.
func green(r *session.RunRequest, attempt int, lines ...session.FileLines) {
	judged(r, "GREEN", attempt, session.Fail, session.ClassTargetFailing, true, lines...)
	s := &r.Session
	s.Last.Reason = "1 of 1 tests of this lap fails"
	s.LastGates = []session.GateResult{{Gate: "tests", Verdict: session.Fail, Class: session.ClassTargetFailing, Reason: s.Last.Reason,
		Counts: session.Counts{Passed: 40, Failed: 1}, Failing: lowers}}
	s.Visit.NoProgress, s.Visit.SameFailure = attempt, attempt
}

// situations returns the golden briefs by name: WORKFLOW-PHASE-SITUATION-AGENT.
func situations(t *testing.T) map[string][]byte {
	all := map[string][]byte{}
	add := func(workflow, phase, what, agent string, change func(r *session.RunRequest) Found) {
		r := work(t, workflow, phase, agent)
		f := Found{}
		if change != nil {
			f = change(&r)
		}
		all[strings.Join([]string{workflow, phase, what, agent}, "-")] = Render(r, f)
	}
	twice := func(r *session.RunRequest) Found {
		f := Found{Failures: red(r), RuleFiles: []string{"CLAUDE.md"}}
		green(r, 1, session.FileLines{Path: "make.go", Added: 4})
		green(r, 2)
		return f
	}
	again := func(ended session.Outcome) func(*session.RunRequest) Found {
		return func(r *session.RunRequest) Found {
			f := Found{Failures: red(r)}
			green(r, 1, session.FileLines{Path: "make.go", Added: 4})
			r.Session.Visit = session.Visit{}
			r.Conversation = &session.Conversation{ID: "c", Ended: ended}
			return f
		}
	}
	for _, agent := range []string{"command", "claude", "codex", "gemini", "opencode"} {
		add("tdd", "RED", "first", agent, func(r *session.RunRequest) Found { return Found{RuleFiles: []string{"CLAUDE.md", "AGENTS.md"}} })
		add("tdd", "GREEN", "failed-twice", agent, twice)
		if agent != "command" {
			add("tdd", "GREEN", "goes-on", agent, again(session.OutcomeOK))
		}
		add("reviewed", "REVIEW", "first", agent, func(r *session.RunRequest) Found {
			judged(r, "IMPLEMENT", 1, session.Pass, session.ClassGreen, false, session.FileLines{Path: "make.go", Added: 12}, session.FileLines{Path: "make_test.go", Added: 30})
			return Found{}
		})
	}
	add("tdd", "RED", "no-items", "claude", func(r *session.RunRequest) Found {
		r.Session.Items, r.Session.SpecPath, r.Spec, r.Plan.Agent.Allow = nil, "", nil, nil
		return Found{}
	})
	add("tdd", "RED", "second-lap", "claude", func(r *session.RunRequest) Found {
		r.Started.Lap = 2
		return Found{}
	})
	add("tdd", "RED", "nothing-added", "claude", func(r *session.RunRequest) Found {
		judged(r, "RED", 1, session.Fail, session.ClassNothingAdded, true, session.FileLines{Path: "make.go", Added: 4})
		s := &r.Session
		s.LastGates = []session.GateResult{{Gate: "tests", Verdict: session.Fail, Class: session.ClassNothingAdded, Counts: session.Counts{Passed: 40, Failed: 1},
			Reason: "no test was added or changed", KnownRed: []session.TestID{"example.org/slug.TestOld"}}}
		s.Last.Reason = s.LastGates[0].Spoken() + ", and the agent named no existing test that covers it"
		return Found{}
	})
	add("tdd", "RED", "test-is-wrong", "codex", func(r *session.RunRequest) Found {
		red(r)
		judged(r, "GREEN", 1, session.Fail, session.ClassTestChange, false)
		r.Started.Attempt, r.Session.TestChange = 1, "TestMakeLowers wants \"hallo\", the goal says \"hello\""
		return Found{}
	})
	add("tdd", "GREEN", "first", "claude", func(r *session.RunRequest) Found { return Found{Failures: red(r)} })
	add("tdd", "GREEN", "builds-not", "codex", func(r *session.RunRequest) Found {
		red(r)
		s := &r.Session
		s.Targets, s.Expected = nil, []string{"TestMakeLowers"}
		s.LastGates[0].Class, s.LastGates[0].Counts = session.ClassMissingSymbol, session.Counts{Passed: 40, Errors: 1}
		return Found{Failures: []report.Failure{{Test: "example.org/slug", Status: session.TestError, Message: "lower_test.go:8:5: undefined: Make"}}}
	})
	add("tdd", "GREEN", "last-try", "codex", func(r *session.RunRequest) Found {
		f := twice(r)
		r.Started.HalfOpen, r.Session.Visit.Failing = true, lowers
		return f
	})
	add("tdd", "GREEN", "long-output", "claude", func(r *session.RunRequest) Found {
		f := twice(r)
		f.Failures[0].Message = strings.Repeat("lower_test.go:8: got 1, want 2\n", 700)
		for i := range 40 {
			f.Failures = append(f.Failures, report.Failure{Test: session.TestID(fmt.Sprintf("example.org/slug.TestMany/case %d", i)), Status: session.TestFail, Message: "wrong"})
		}
		return f
	})
	add("tdd", "GREEN", "weakened", "claude", func(r *session.RunRequest) Found {
		f := Found{Failures: red(r)}
		r.Session.Frozen = "t1"
		r.Session.Checkpoints[1].Tree = "t1"
		judged(r, "GREEN", 1, session.Fail, session.ClassTampered, true, session.FileLines{Path: "lower_test.go", Added: 1, Removed: 1})
		r.Session.Tampered = []session.Tampering{{Kind: "assertion_weakened", Path: "lower_test.go", Line: 8, Before: `want "hello"`, After: `want ""`, Grave: true}}
		return f
	})
	add("tdd", "GREEN", "hidden-tests", "claude", func(r *session.RunRequest) Found {
		red(r)
		judged(r, "GREEN", 1, session.Fail, session.ClassHoldout, true, session.FileLines{Path: "make.go", Added: 4})
		r.Session.Holdout = &session.HoldoutResult{Verdict: session.Fail, Passed: 2, Failed: 1}
		return Found{}
	})
	add("tdd", "GREEN", "word-missing", "claude", func(r *session.RunRequest) Found {
		red(r)
		r.Phase.Signal = workflows.SignalRequired
		judged(r, "GREEN", 1, session.Fail, session.ClassUnsigned, false, session.FileLines{Path: "make.go", Added: 4})
		return Found{Note: "upper case umlauts are left"}
	})
	add("tdd", "GREEN", "interrupted", "claude", again(session.OutcomeInterrupted))
	add("tdd", "GREEN", "interrupted", "command", func(r *session.RunRequest) Found {
		f := Found{Failures: red(r)}
		s := &r.Session
		s.Checkpoints = append(s.Checkpoints, session.Checkpoint{Number: 2, On: 1, Phase: "GREEN", Lap: 1, Trigger: session.TriggerInterrupted})
		s.Current = 2
		return f
	})
	add("tdd", "GREEN", "notes", "opencode", func(r *session.RunRequest) Found {
		r.Notes = []string{"dates are ISO 8601", "two lines,\nthis is the second"}
		return Found{Failures: red(r)}
	})
	add("tdd", "GREEN", "notes-meanwhile", "claude", func(r *session.RunRequest) Found {
		r.Notes, r.Meanwhile = []string{"dates are ISO 8601"}, []string{"the tests may be skipped", "tabs"}
		return Found{Failures: red(r)}
	})
	answered := func(r *session.RunRequest) Found {
		f := Found{Failures: red(r)}
		r.Session.Said = []session.Said{{Ask: "Which letters: ASCII only, or all of Unicode?", Text: "all of Unicode"}}
		r.Session.LastResult = &session.RunResult{Outcome: session.OutcomeAsk}
		return f
	}
	add("tdd", "GREEN", "answer", "codex", answered)
	add("tdd", "GREEN", "answer-goes-on", "claude", func(r *session.RunRequest) Found {
		f := answered(r)
		r.Conversation = &session.Conversation{ID: "c", Ended: session.OutcomeAsk}
		return f
	})
	add("tdd", "REFACTOR", "first", "claude", func(r *session.RunRequest) Found {
		red(r)
		judged(r, "GREEN", 1, session.Pass, session.ClassGreen, false, session.FileLines{Path: "make.go", Added: 6, Removed: 1})
		r.Session.LastGates = []session.GateResult{{Gate: "tests", Verdict: session.Pass, Class: session.ClassGreen, Counts: session.Counts{Passed: 41}}}
		return Found{}
	})
	add("tdd", "GREEN", "tests-cannot-fail", "claude", func(r *session.RunRequest) Found {
		red(r)
		judged(r, "GREEN", 1, session.Fail, session.ClassTampered, true,
			session.FileLines{Path: "make.go", Added: 6, Removed: 1})
		r.Session.Last.Reason = "the lap's tests cannot fail: with 2 expected values of the lap's tests changed on purpose (make_test.go) they still pass"
		r.Session.Tampered = []session.Tampering{{Kind: session.FoundCannotFail, Path: "make_test.go", Test: "TestMake",
			After: "with 2 expected values of the lap's tests changed on purpose (make_test.go) they still pass",
			Grave: true}}
		return Found{}
	})
	add("plan", "PLAN", "first", "claude", nil)
	add("plan", "PLAN", "no-items", "claude", func(r *session.RunRequest) Found {
		r.Session.Items, r.Session.SpecPath, r.Spec = nil, "", nil
		return Found{}
	})
	add("loop", "WORK", "first", "claude", nil)
	add("loop", "WORK", "failed", "command", func(r *session.RunRequest) Found {
		judged(r, "WORK", 1, session.Fail, session.ClassCommandFailed, false, session.FileLines{Path: "c", Added: 1})
		r.Session.Items, r.Session.SpecPath, r.Spec = nil, "", nil
		tests := session.GateResult{Gate: "tests", Verdict: session.Fail, Class: session.ClassCommandFailed, KnownRed: []session.TestID{"gate tests"},
			Reason: "the command exited with code 1, as it did before the session began"}
		lint := session.GateResult{Gate: "lint", Verdict: session.Fail, Class: session.ClassCommandFailed, Failing: []session.TestID{"gate lint"},
			Reason: "the command exited with code 2"}
		r.Session.LastGates, r.Session.Last.Reason = []session.GateResult{tests, lint}, tests.Spoken()
		return Found{Failures: []report.Failure{{Gate: "tests", Test: "gate tests", Status: session.TestError}}}
	})
	add("plan", "PLAN", "failed", "command", func(r *session.RunRequest) Found {
		judged(r, "PLAN", 1, session.Fail, session.ClassDocument, true, session.FileLines{Path: ".workflow/slugs/plan.md", Added: 9})
		r.Session.Last.Reason = `.workflow/slugs/plan.md has no task list: lines that begin with "- [ ] "`
		r.Session.LastGates = []session.GateResult{{Gate: "plan", Where: session.InTree, Verdict: session.Fail, Class: session.ClassDocument, Reason: r.Session.Last.Reason}}
		return Found{}
	})
	planned := func(r *session.RunRequest) {
		judged(r, "PLAN", 1, session.Pass, session.ClassGreen, false, session.FileLines{Path: ".workflow/slugs/plan.md", Added: 9})
	}
	add("plan", "IMPLEMENT", "first", "claude", func(r *session.RunRequest) Found { planned(r); return Found{} })
	add("plan", "IMPLEMENT", "second-task", "claude", func(r *session.RunRequest) Found {
		planned(r)
		return Found{Tasks: checklist.Parse([]byte("- [x] T1 titles\n- [ ] T2 dates (after T3)\n- [ ] T3 links (after T1)\n"))}
	})
	add("plan", "IMPLEMENT", "sent-back", "opencode", func(r *session.RunRequest) Found {
		planned(r)
		judged(r, "IMPLEMENT", 1, session.Pass, session.ClassGreen, false, session.FileLines{Path: "make.go", Added: 12})
		judged(r, "REVIEW", 1, session.Fail, session.ClassRejected, false)
		r.Started.Attempt = 1
		r.Session.Said = []session.Said{{From: "REVIEW", Text: "an empty title must give an empty slug,\nand a test must show it"}}
		r.Notes = []string{"no new dependencies"}
		return Found{}
	})
	add("reviewed", "IMPLEMENT", "sent-back", "gemini", func(r *session.RunRequest) Found {
		planned(r)
		judged(r, "IMPLEMENT", 1, session.Pass, session.ClassGreen, false, session.FileLines{Path: "make.go", Added: 12})
		judged(r, "REVIEW", 1, session.Fail, session.ClassRejected, false)
		r.Started.Attempt = 1
		r.Session.Review = &session.Review{Verdict: session.Reject, Findings: []session.Remark{{Path: "make.go", Line: 4, What: "an empty title is not tested"}}}
		return Found{}
	})
	return all
}

// TestBriefTexts compares briefs of each phase, agent and situation with files that are meant to be read.
func TestBriefTexts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "briefs")
	all := situations(t)
	for name, got := range all {
		at := filepath.Join(dir, name+".md")
		if *update {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(at)
		if err != nil {
			t.Error(err)
			continue
		}
		if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
			t.Errorf("%s differs (go test ./phases -run %s -update writes it):\n%s", at, t.Name(), got)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != len(all) {
		t.Errorf("%d files in %s for %d briefs: %v", len(files), dir, len(all), err)
	}
}

// TestBriefNamesKeysOfTheAnswer: no brief names $WFS_RESULT to an agent that answers in another form, and each names
// only keys that its answer may have.
func TestBriefNamesKeysOfTheAnswer(t *testing.T) {
	t.Parallel()
	for name, text := range situations(t) {
		if strings.Contains(string(text), "$WFS_RESULT") != strings.HasSuffix(name, "-command") {
			t.Errorf("%s: $WFS_RESULT", name)
		}
	}
	answer := regexp.MustCompile("(?s)(?:answer with|in)\\s+`([a-z_]+)`")
	for workflow, start := range map[string]string{"tdd": "RED", "plan": "PLAN", "reviewed": "PLAN", "loop": "WORK"} {
		for _, p := range work(t, workflow, start, "claude").Plan.Workflow.Phases {
			r := work(t, workflow, string(p.Name), "claude")
			var schema struct{ Properties map[string]any }
			if err := json.Unmarshal([]byte(Schema(r)), &schema); err != nil {
				t.Fatal(err)
			}
			for _, m := range answer.FindAllStringSubmatch(p.Brief, -1) {
				if schema.Properties[m[1]] == nil {
					t.Errorf("%s, %s: the brief names %s, which the schema does not have", workflow, p.Name, m[1])
				}
			}
		}
	}
}

// TestBriefOfRareSituations looks for the sentences of the template that are in no golden brief.
func TestBriefOfRareSituations(t *testing.T) {
	t.Parallel()
	note := func(from workflows.PhaseName) session.Said { return session.Said{Text: "no", From: from} }
	for want, change := range map[string]func(r *session.RunRequest){
		"It is long: here is the section with this lap's item. Read the whole specification in `.workflow/slugs/spec.md`": func(r *session.RunRequest) {
			r.SpecFile = ".workflow/slugs/spec.md"
		},
		"The work of this phase was sent back:\n- no\n":     func(r *session.RunRequest) { r.Session.Said = []session.Said{note("GREEN")} },
		"The work was done, and was sent back:\n- no\n":     func(r *session.RunRequest) { r.Session.Said = []session.Said{note(workflows.Done)} },
		"The work was sent back from REVIEW:\n- no\n":       func(r *session.RunRequest) { r.Session.Said = []session.Said{note("REVIEW")} },
		"\nNotes:\n- use integers\n":                        func(r *session.RunRequest) { r.Notes = []string{"use integers"} },
		"- These paths may not change: `a`, `b`.":           func(r *session.RunRequest) { r.Phase.Guards.Except = []string{"a", "b"} },
		"- You run unattended: questions and permission":    func(r *session.RunRequest) { r.Plan.Agent.Card, r.Plan.Agent.Allow = &workflows.Card{Name: "x"}, nil },
		"- The last attempt left a command running":         func(r *session.RunRequest) { r.Session.LastResult = &session.RunResult{LeftRunning: true} },
		"What the question was about (data between":         func(r *session.RunRequest) { rejected(r) },
		"The verdict uses it as if it had been there":       func(r *session.RunRequest) { allowed(r) },
		"Already restored, to be left alone: a_test.go":     func(r *session.RunRequest) { weakened(r, "a_test.go") },
		"`git checkout 1110001 -- PATH` restores a file.":   func(r *session.RunRequest) { weakened(r) },
		"The last attempt did that, and wfs restored them.": func(r *session.RunRequest) { weakened(r, "a_test.go", "b_test.go") },
		"Your verdict is missing: answer with one.":         func(r *session.RunRequest) { r.Session.Last = &session.Decided{Class: session.ClassNoReview} },
		"answer in the file that $WFS_RESULT names.": func(r *session.RunRequest) {
			r.Conversation, r.Plan.Agent.Card = &session.Conversation{}, nil
		},
		"Attempt 1 (1110001) got furthest.": func(r *session.RunRequest) {
			green(r, 1)
			green(r, 2)
			r.Session.Visit.BestAt, r.Session.Visit.BestHas = 1, session.Reached{Ran: true, Targets: 2}
		},
		"It was sent back before, for these findings": func(r *session.RunRequest) {
			r.Phase, r.Session.Review = work(t, "reviewed", "REVIEW", "claude").Phase, &session.Review{More: 2, Findings: []session.Remark{{What: "w"}}}
		},
		"1. w\nand 2 more": func(r *session.RunRequest) {
			r.Session.Review = &session.Review{More: 2, Findings: []session.Remark{{What: "w"}}}
		},
		"There are hidden tests too: 3 of 5 fail.": func(r *session.RunRequest) {
			judged(r, "GREEN", 1, session.Fail, session.ClassHoldout, false)
			r.Session.Holdout = &session.HoldoutResult{Verdict: session.Fail, Passed: 2, Failed: 1, NotRun: 2, Failing: lowers}
		},
	} {
		r := work(t, "tdd", "GREEN", "claude")
		change(&r)
		if got := string(Render(r, Found{})); !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}

func rejected(r *session.RunRequest) {
	r.Session.Said = []session.Said{{Text: "no", From: "GREEN"}}
	r.Session.Last = &session.Decided{Class: session.ClassRejected, Question: &session.Question{Paths: []string{"a_test.go"}}}
}

func allowed(r *session.RunRequest) {
	judged(r, "GREEN", 1, session.Pass, session.ClassApproved, false)
	r.Session.Checkpoints[1].Tampered = []session.Tampering{{Kind: session.FoundWeaker, Path: "a_test.go", Grave: true}}
}

// weakened adds an attempt that weakened two test files, some of which were restored.
func weakened(r *session.RunRequest, back ...string) {
	judged(r, "GREEN", 1, session.Fail, session.ClassTampered, false)
	r.Session.Tampered = []session.Tampering{{Kind: session.FoundWeaker, Path: "a_test.go", Grave: true}, {Kind: session.FoundWeaker, Path: "b_test.go", Grave: true}}
	r.Back = back
}
