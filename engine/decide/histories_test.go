package decide

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/fold"
	"github.com/wfs-dev/wfs/workflows"
)

// try is one attempt as the engine sees it.
type try struct {
	Tree    string        `json:"tree"` // "": unchanged
	Class   session.Class `json:"class"`
	Failing []string      `json:"failing,omitempty"`
	Targets int           `json:"targets,omitempty"` // passing
	Tests   int           `json:"tests,omitempty"`   // passing
	Print   string        `json:"print,omitempty"`   // fingerprint of the failure
	Red     bool          `json:"red,omitempty"`     // its gate expects red

	Outcome session.Outcome `json:"outcome,omitempty"` // "": ok
	Tools   int             `json:"tools,omitempty"`
	Denials int             `json:"denials,omitempty"`
	Done    bool            `json:"done,omitempty"`
}

// history is one visit to a phase, with the judgement of a person who watched it.
type history struct {
	Name   string           `json:"name"`
	Limits workflows.Limits `json:"limits"`
	Signal workflows.Signal `json:"signal,omitempty"`
	Tries  []try            `json:"tries"`
	// StopBy is the attempt after which a person would have stopped it at the latest; 0: a person would let it finish.
	StopBy int `json:"stop_by,omitempty"`
}

// opened replays a history through the decisions and the fold of a real run. It returns the attempt after which the
// breaker opened, 0 if it did not.
func (h *history) opened(t interface{ Fatalf(string, ...any) }) int {
	ph := workflows.Phase{Name: "WORK", Run: workflows.Run{Agent: true}, Limits: h.Limits, Signal: h.Signal,
		On: map[workflows.Verdict]workflows.PhaseName{workflows.Pass: workflows.Done, workflows.Fail: "WORK"}}
	p := &workflows.Plan{Workflow: workflows.Workflow{Name: "w", Start: "WORK", Phases: []workflows.Phase{ph}}}
	var s session.Session
	add := func(b session.Body) {
		next, err := fold.Extend(s, []session.Event{{Seq: s.Seq + 1, At: time.Unix(s.Seq, 0), Body: b}})
		if err != nil {
			t.Fatalf("%s: %s: %v", h.Name, session.Event{Body: b}.Kind(), err)
		}
		s = next
	}
	add(session.Created{ID: "x", Goal: "g", Start: "WORK"})
	add(session.Checkpointed{Trigger: session.TriggerBirth, Code: "c", Tree: "start", Phase: "WORK", Lap: 1})
	add(session.Driving{})
	tree, judged := session.Tree("start"), 0
	for _, a := range append(slices.Clone(h.Tries), try{}) {
		d := Decide(&s, p, Facts{Tree: tree, RunID: "r"})
		if len(d.Events) == 1 && d.Effect == EffectStop {
			if b, ok := d.Events[0].(session.BlockedBy); ok && b.Reason == session.BlockBreaker {
				return judged
			}
			if w, ok := d.Events[0].(session.Waiting); !ok || w.Reason != session.WaitHuman {
				t.Fatalf("%s: after %d attempts: %+v", h.Name, judged, d.Events[0])
			}
			add(d.Events[0])
			add(session.Noted{Text: "answered"})
			add(session.Driving{})
			d = Decide(&s, p, Facts{Tree: tree, RunID: "r"})
		}
		if s.Status == session.StatusCompleted || a.Class == "" {
			return 0
		}
		for _, b := range d.Events {
			add(b)
		}
		if d.Effect != EffectRun {
			t.Fatalf("%s: %s after %d attempts", h.Name, d.Effect, judged)
		}
		if a.Tree != "" {
			tree = session.Tree(a.Tree)
		}
		run := session.RunResult{Outcome: a.Outcome, Tools: a.Tools, Denials: a.Denials, Done: a.Done}
		if run.Outcome == "" {
			run.Outcome = session.OutcomeOK
		}
		add(session.RunEnded{RunResult: run, Tree: tree})
		if d = Decide(&s, p, Facts{Tree: tree, RunID: "r"}); d.Effect != EffectJudge { // not counted: a wait, a question
			for _, b := range d.Events {
				if w, ok := b.(session.Waiting); ok {
					w.Until = 0
					add(w)
				}
			}
			if s.Open != nil {
				t.Fatalf("%s: %s, and the attempt is open", h.Name, d.Effect)
			}
			add(session.Noted{Text: "answered", Request: "r"})
			add(session.Driving{Now: true})
			continue
		}
		add(session.Judged{Judgement: a.judgement(tree)})
		d = Decide(&s, p, Facts{})
		add(d.Events[0])
		o := s.Open
		add(session.Checkpointed{Number: s.NextNumber(), Trigger: session.TriggerAttempt, Code: "c", Tree: tree, Phase: "WORK", Lap: 1, Attempt: o.Attempt,
			Verdict: o.Decided.Verdict, Class: o.Decided.Class})
		judged++
	}
	return 0
}

func (a *try) judgement(tree session.Tree) session.Judgement {
	j := session.Judgement{Tree: tree, Verdict: session.Fail, Class: a.Class, Reason: "r"}
	g := session.GateResult{Gate: "tests", Verdict: session.Fail, Class: a.Class, Passing: a.Targets,
		Counts: session.Counts{Passed: a.Tests, Failed: len(a.Failing)}, Fingerprint: string(a.Class) + strings.Join(a.Failing, " ") + a.Print}
	if a.Red {
		g.Expect = "red"
	}
	for _, id := range a.Failing {
		g.Failing = append(g.Failing, session.TestID(id))
	}
	if a.Class == session.ClassGreen {
		j.Verdict, g.Verdict, g.Fingerprint = session.Pass, session.Pass, ""
	}
	j.Gates = []session.GateResult{g}
	return j
}

// The limits of the built-in workflows.
var (
	atGreen    = workflows.Limits{NoProgress: 3, SameFailure: 3}
	atRed      = workflows.Limits{NoProgress: 3, SameFailure: 5}
	atRefactor = workflows.Limits{NoProgress: 5, SameFailure: 5}
	anywhere   = workflows.Limits{}
)

// trees generates unique names of trees.
type trees int

func (n *trees) next() string { *n++; return fmt.Sprint("tree ", int(*n)) }

var pass = try{Class: session.ClassGreen, Tree: "passed", Done: true}

// toldHistories returns loops that users have described.
func toldHistories() []history {
	var n trees
	fails := func(print string, ids ...string) try {
		return try{Tree: n.next(), Class: session.ClassTargetFailing, Failing: ids, Print: print, Tests: 10, Done: true}
	}
	at := func(a try, tree string) try { a.Tree = tree; return a }
	idle := try{Class: session.ClassTargetFailing, Failing: []string{"a"}, Tests: 10}
	broken := func(unit string) try {
		return try{Tree: n.next(), Class: session.ClassBuildBroken, Failing: []string{unit}, Print: unit}
	}
	return []history{
		{"passes at once", atGreen, "", []try{pass}, 0},
		{"one test after the other", atGreen, "", []try{fails("", "a", "b", "c"), fails("", "b", "c"), fails("", "c"), pass}, 0},
		{"reads first", atRed, "", []try{{Class: session.ClassNothingAdded, Red: true, Tools: 12}, pass}, 0},
		{"reads first, then needs three", atGreen, "", []try{{Class: session.ClassTargetFailing, Failing: []string{"a"}, Tools: 30}, fails("x", "a"), fails("y", "a"), pass}, 0},
		{"reads first, then stumbles twice", atGreen, "", []try{{Class: session.ClassTargetFailing, Failing: []string{"a"}, Tools: 30}, fails("", "a"), fails("", "a"), pass}, 0},
		{"the message changes, the test does not", atGreen, "", []try{fails("no table", "a"), fails("no row", "a"), fails("no column", "a"), fails("wrong type", "a"), pass}, 0},
		{"builds at last", atGreen, "", []try{broken("x"), broken("y"), broken("z"), fails("", "a", "b"), fails("", "a"), pass}, 0},
		{"builds, and other tests fail then", anywhere, "", []try{broken("x"), {Tree: n.next(), Class: session.ClassBrokeGreen, Failing: []string{"o", "p", "q"}, Tests: 40},
			{Tree: n.next(), Class: session.ClassBrokeGreen, Failing: []string{"o"}, Tests: 42}, pass}, 0},
		{"takes a wrong way back", atGreen, "", []try{fails("x", "a"), at(fails("y", "a", "b"), "start"), fails("z", "a"), pass}, 0},
		{"two steps back, one forward, and again", atGreen, "", []try{fails("1", "a", "b"), fails("1", "a", "b"), {Tree: n.next(), Class: session.ClassTargetFailing, Failing: []string{"b"}, Targets: 1},
			{Tree: n.next(), Class: session.ClassTargetFailing, Failing: []string{"a", "b"}}, pass}, 0},
		{"asks twice, waits thrice", atGreen, "", []try{{Class: idle.Class, Outcome: session.OutcomeAsk}, {Class: idle.Class, Outcome: session.OutcomeLimit}, fails("x", "a"),
			{Class: idle.Class, Outcome: session.OutcomeAsk}, {Class: idle.Class, Outcome: session.OutcomeLimit}, {Class: idle.Class, Outcome: session.OutcomeOverloaded}, pass}, 0},
		{"forgets to say that it is done", atGreen, workflows.SignalRequired, []try{{Tree: "p", Class: session.ClassGreen}, {Class: session.ClassGreen}, {Class: session.ClassGreen},
			{Class: session.ClassGreen}, {Class: session.ClassGreen, Done: true}}, 0},
		{"was refused one call, and did without", atGreen, "", []try{{Class: idle.Class, Failing: []string{"a"}, Denials: 2, Tools: 5, Outcome: session.OutcomeDenied}, fails("x", "a"), pass}, 0},
		{"red for the right reason at the third try", atRed, "", []try{{Tree: n.next(), Class: session.ClassUnexpectedGreen, Red: true, Failing: []string{"t1"}},
			{Tree: n.next(), Class: session.ClassUnexpectedGreen, Red: true, Failing: []string{"t2"}}, {Tree: n.next(), Class: session.ClassBuildBroken, Red: true, Failing: []string{"p"}}, pass}, 0},
		{"a long refactoring", atRefactor, "", []try{fails("1", "a"), fails("2", "a", "b"), fails("3", "b"), fails("4", "c"), fails("5", "c"), pass}, 0},

		{"does nothing", atGreen, "", []try{idle, idle, idle, idle, idle}, 4},
		{"says that it is done and does nothing", atGreen, "", []try{{Class: idle.Class, Failing: []string{"a"}, Done: true, Tools: 9}, {Class: idle.Class, Failing: []string{"a"}, Done: true, Tools: 9},
			{Class: idle.Class, Failing: []string{"a"}, Done: true, Tools: 9}, idle, idle}, 4},
		{"reads, and reads, and reads", atRed, "", slices.Repeat([]try{{Class: session.ClassNothingAdded, Red: true, Tools: 40}}, 7), 5},
		{"changes comments", atGreen, "", []try{fails("x", "a"), fails("x", "a"), fails("x", "a"), fails("x", "a"), fails("x", "a")}, 4},
		{"to and fro", anywhere, "", []try{at(fails("x", "a"), "A"), at(fails("y", "b"), "B"), at(fails("x", "a"), "A"), at(fails("y", "b"), "B"), at(fails("x", "a"), "A"), at(fails("y", "b"), "B")}, 5},
		{"three in a circle", anywhere, "", []try{at(fails("x", "a"), "A"), at(fails("y", "a"), "B"), at(fails("z", "a"), "C"), at(fails("x", "a"), "A"), at(fails("y", "a"), "B"), at(fails("z", "a"), "C")}, 6},
		{"mends one and breaks another", atGreen, "", []try{fails("", "a"), fails("", "b"), fails("", "c"), fails("", "d"), fails("", "e"), fails("", "f")}, 6},
		{"breaks more and more", atGreen, "", []try{fails("", "a"), fails("", "a", "b"), fails("", "a", "b", "c"), fails("", "a", "b", "c", "d"), fails("", "a", "b", "c", "d", "e")}, 5},
		{"ever new failures", atGreen, "", []try{fails("1", "a"), fails("2", "a"), fails("3", "a"), fails("4", "a"), fails("5", "a"), fails("6", "a"), fails("7", "a"), fails("8", "a"), fails("9", "a")}, 8},
		{"may do nothing", atGreen, "", slices.Repeat([]try{{Class: idle.Class, Failing: []string{"a"}, Denials: 4, Tools: 4, Outcome: session.OutcomeDenied}}, 4), 2},
		{"cannot build, ever", atGreen, "", []try{broken("x"), broken("x"), broken("x"), broken("x"), broken("x")}, 4},
		{"green tests, never the phase", anywhere, "", slices.Repeat([]try{{Tree: "t", Class: session.ClassGuard}}, 6), 5},
	}
}

// drawnHistory returns a described kind of history with random lengths and details.
func drawnHistory(t *rapid.T) history {
	var n trees
	count := func(low, high int) int { return rapid.IntRange(low, high).Draw(t, "count") }
	limits := rapid.SampledFrom([]workflows.Limits{atGreen, atRefactor, anywhere}).Draw(t, "limits")
	ids := func(k int) (list []string) {
		for i := range k {
			list = append(list, fmt.Sprint("test ", i))
		}
		return list
	}
	fails := func(passing int, print string, failing ...string) try {
		return try{Tree: n.next(), Class: session.ClassTargetFailing, Failing: failing, Targets: passing, Print: print, Done: rapid.Bool().Draw(t, "claims")}
	}
	h := history{Limits: limits}
	kind := rapid.SampledFrom([]string{"slow", "slow with stumbles", "explores", "evolves", "unsigned",
		"idle", "same", "circles", "moles", "worse", "thrash", "denied"}).Draw(t, "kind")
	h.Name = kind
	np := limits.NoProgress
	if np == 0 {
		np = workflows.DefaultLimits.NoProgress
	}
	switch kind {
	case "slow", "slow with stumbles": // every step makes one test pass; there may be one attempt in between that does not
		all := ids(count(2, 5))
		for i := range all {
			for range map[bool]int{false: 0, true: count(0, 1)}[kind != "slow"] {
				h.Tries = append(h.Tries, fails(i, fmt.Sprint("stumble ", i), all[i:]...))
			}
			h.Tries = append(h.Tries, fails(i+1, "", all[i+1:]...))
		}
		h.Tries[len(h.Tries)-1] = pass
	case "explores":
		h.Tries = []try{{Class: session.ClassTargetFailing, Failing: ids(1), Tools: count(1, 90)}}
		for i := range count(0, 2) {
			h.Tries = append(h.Tries, fails(0, fmt.Sprint(i), ids(1)...))
		}
		h.Tries = append(h.Tries, pass)
	case "evolves":
		for i := range count(1, 5) {
			h.Tries = append(h.Tries, fails(0, fmt.Sprint(i), ids(2)...))
		}
		h.Tries = append(h.Tries, pass)
	case "unsigned":
		h.Signal = workflows.SignalRequired
		h.Tries = slices.Repeat([]try{{Tree: "p", Class: session.ClassGreen}}, count(1, 8))
		h.Tries = append(h.Tries, try{Tree: "p", Class: session.ClassGreen, Done: true})

	case "idle":
		h.StopBy = np + 1
		h.Tries = slices.Repeat([]try{{Class: session.ClassTargetFailing, Failing: ids(count(1, 9)), Tools: count(0, 5), Done: true}}, 12)
	case "same":
		h.StopBy = max(np, limits.SameFailure, workflows.DefaultLimits.SameFailure) + 1
		for range 12 {
			h.Tries = append(h.Tries, fails(0, "same", ids(3)...))
		}
	case "circles":
		period := count(2, 4)
		h.StopBy = period + 3
		for i := range 12 {
			a := fails(0, fmt.Sprint(i%period), ids(2)...)
			a.Tree = fmt.Sprint("circle ", i%period)
			h.Tries = append(h.Tries, a)
		}
	case "moles": // as many tests fail as before, but different ones
		h.StopBy = 2*np + 2
		for i := range 14 {
			h.Tries = append(h.Tries, fails(0, "", fmt.Sprint("mole ", i)))
		}
	case "worse":
		h.StopBy = np + 3
		k := count(1, 3)
		for i := range 12 {
			h.Tries = append(h.Tries, fails(0, "", ids(1+i*k)...))
		}
	case "thrash":
		h.StopBy = 2*np + 3
		for i := range 14 {
			h.Tries = append(h.Tries, fails(0, fmt.Sprint("print ", i), ids(1)...))
		}
	case "denied":
		h.StopBy = 2
		h.Tries = slices.Repeat([]try{{Class: session.ClassTargetFailing, Failing: ids(1), Denials: count(1, 9), Outcome: session.OutcomeDenied}}, 6)
	}
	return h
}

// recordedHistories returns the histories of real sessions, one per line of the file.
func recordedHistories(t *testing.T) []history {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "histories.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var list []history
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var h history
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			t.Fatal(err)
		}
		list = append(list, h)
	}
	return list
}

// alarms counts the breaker's errors.
type alarms struct{ honest, stuck, falsely, missed, early int }

func (c *alarms) hear(h history, at int) (wrong string) {
	switch {
	case h.StopBy == 0:
		if c.honest++; at > 0 {
			c.falsely++
			return fmt.Sprintf("false alarm: %s: opened after attempt %d", h.Name, at)
		}
	case at == 0 || at > h.StopBy:
		c.stuck++
		c.missed++
		return fmt.Sprintf("missed alarm: %s: opened after attempt %d, a person would have stopped it by %d", h.Name, at, h.StopBy)
	default:
		if c.stuck++; at < 2 {
			c.early++
			return fmt.Sprintf("hasty alarm: %s: opened after attempt %d", h.Name, at)
		}
	}
	return ""
}

func (c *alarms) String() string {
	return fmt.Sprintf("%d false alarms in %d honest histories, %d missed in %d stuck ones, %d hasty", c.falsely, c.honest, c.missed, c.stuck, c.early)
}

// TestBreakerAlarms counts the breaker's errors over described, recorded and random histories.
func TestBreakerAlarms(t *testing.T) {
	var naive alarms
	for _, from := range []struct {
		name string
		list []history
	}{{"told", toldHistories()}, {"recorded", recordedHistories(t)}} {
		var c alarms
		for _, h := range from.list {
			naive.hear(h, h.counting())
			if wrong := c.hear(h, h.opened(t)); wrong != "" {
				t.Error(wrong)
			}
		}
		if c.honest < 5 || c.stuck < 5 {
			t.Errorf("%s: hardly any: %s", from.name, &c)
		}
		t.Logf("%s: %s", from.name, &c)
	}
	var c alarms
	rapid.Check(t, func(r *rapid.T) {
		h := drawnHistory(r)
		naive.hear(h, h.counting())
		if wrong := c.hear(h, h.opened(r)); wrong != "" {
			r.Fatalf("%s", wrong)
		}
	})
	t.Logf("drawn: %s", &c)
	t.Logf("a breaker that counts passing tests and compares messages, on all of these: %s", &naive)
	if naive.falsely == 0 {
		t.Errorf("the histories tell no breaker from another: %s", &naive)
	}
}

// counting returns the attempt after which a simple breaker opens, 0 for never. It knows only the number of passing
// tests and the last message. It opens at two attempts without one more passing test, or at three with the same
// message.
func (h *history) counting() int {
	passing, worse, same := 0, 0, 0
	last := ""
	for i, a := range h.Tries {
		if a.Class == session.ClassGreen && (h.Signal == "" || a.Done) {
			return 0
		}
		now := a.Targets + a.Tests
		worse++
		if now > passing {
			worse = 0
		}
		same++
		if a.Print != last {
			same = 1
		}
		passing, last = now, a.Print
		if worse >= 2 || same >= 3 {
			return i + 1
		}
	}
	return 0
}
