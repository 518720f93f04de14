package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// What experiments find, as kinds of findings.
const (
	FoundOnlySo     = "passes_only_so"     // with the tests as they were the code does not pass
	FoundWeaker     = "assertion_weakened" // a test as it was notices a change of the code that it does not notice now
	FoundEdited     = "test_edited"        // and the code could not be judged with the test as it was
	FoundCannotFail = "tests_cannot_fail"  // they pass with other expected values, too
	FoundDeaf       = "test_cannot_fail"   // one does, or looks at no result of the code
	FoundNotNeeded  = "code_not_needed"    // they pass although the code that the attempt wrote fails
)

// Tampering is one thing that was done to tests since they were frozen. It quotes code, one line of it, and no output.
type Tampering struct {
	// `passes_only_so` (the code does not pass the frozen tests), `assertion_weakened` (the frozen test detects a
	// change of the code that the new one does not detect), `test_edited` (and the code could not be judged with the
	// frozen test), `tests_cannot_fail` (they also pass with other expected values), `test_cannot_fail` (one of
	// several does, or checks no result of the lap's code), `code_not_needed` (they pass although the lap's code
	// fails). Versions before this one also wrote other kinds
	Kind string `json:"kind"`
	Path string `json:"path"` // in which file (path)
	// in which test, entry of a snapshot, or part of a configuration
	Test string `json:"test,omitempty"`
	// of the new text, or of the old one if the new one does not have it
	Line   int    `json:"line,omitempty"`
	Before string `json:"before,omitempty" text:"free"` // one line; a package with its version
	// one line; a package with its version, or what is wrong
	After string `json:"after,omitempty" text:"free"`
	Grave bool   `json:"grave,omitempty"` // it weakens tests; otherwise it is only mentioned
}

// maxKept is how many findings a checkpoint carries. Its judgement has up to MaxNamed.
const maxKept = 10

// Grave are those findings of a judgement that make tests ask for less.
func (j *Judgement) Grave() []Tampering {
	var out []Tampering
	for _, t := range j.Tampered {
		if t.Grave {
			out = append(out, t)
		}
	}
	return out
}

// froze folds what an attempt's checkpoint says about the tests that are frozen: RED freezes them, and what a
// person has approved is frozen in their place. A lap's end lets them go.
func (s *Session) froze(open *Open, d *Decided, c *Checkpoint) {
	if j := open.Judgement; j != nil {
		if j.Red() != nil && d.Verdict == Pass && !d.NothingLeft {
			s.Frozen, s.TestChange = c.Tree, ""
		}
		grave := j.Grave()
		c.Tampered = slices.Clip(grave[:min(len(grave), maxKept)])
		if len(j.Tampered) > 0 || d.Class != ClassRejected {
			s.Tampered = j.Tampered
		}
	}
	if open.Run != nil && open.Run.Approved && s.Frozen != "" {
		s.Frozen = c.Tree
	}
	if d.Class == ClassTestChange && d.Next != s.Phase {
		s.TestChanges++
		s.TestChange = open.Run.TestChange
	}
	if d.LapEnded {
		s.thaw()
	}
	if d.Next != s.Phase {
		s.Tampered = nil
	}
}

// TestsAt is the checkpoint of the phase that wrote the tests which the work is held to, nil for none.
func (s *Session) TestsAt() *Checkpoint {
	for i, c := range s.Checkpoints {
		if s.Frozen != "" && c.Tree == s.Frozen && c.Verdict == Pass && c.Next != c.Phase {
			return &s.Checkpoints[i]
		}
	}
	return nil
}

// Having is the newest checkpoint with a tree, nil when there is none.
func (s *Session) Having(t Tree) *int {
	for _, c := range slices.Backward(s.Checkpoints) {
		if t != "" && c.Tree == t {
			return &c.Number
		}
	}
	return nil
}

// thaw lets frozen tests go.
func (s *Session) thaw() {
	s.Frozen, s.TestChange, s.TestChanges, s.Tampered, s.Gone = "", "", 0, nil, nil
}

// kept folds a checkpoint of a person's: what it holds of tests, the person has allowed.
func (s *Session) kept(tree Tree) {
	if s.Frozen != "" {
		s.Frozen = tree
	}
}

// ledTo folds a person's decision to go on in another phase: the tests are those that are there now, unless it
// went back to change them.
func (s *Session) ledTo(b PhaseMoved) {
	s.Tampered = nil
	c := s.At(s.Current)
	switch {
	case b.NewLap:
		s.thaw()
	case b.Tests && s.Frozen != "":
		s.TestChange = cmp.Or(b.Why, "a person sent the work back")
	case b.Skip && c != nil:
		s.Frozen = c.Tree
	}
}

// String is the finding in one line: where, what, and the code before and after.
func (t Tampering) String() string {
	at := t.Path
	if t.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, t.Line)
	}
	if t.Test != "" {
		at += " " + t.Test
	}
	text := at + ": " + strings.ReplaceAll(t.Kind, "_", " ")
	switch {
	case t.Before != "" && t.After != "":
		text += ": " + t.Before + " → " + t.After
	case t.Before+t.After != "":
		text += ": " + t.Before + t.After
	}
	return text
}

// Beside is the finding below a text that may say already what was found.
func (t Tampering) Beside(text string) Tampering {
	if t.After != "" && strings.Contains(text, t.After) {
		t.Before, t.After = "", ""
	}
	return t
}

// TamperedOn are the findings of the checkpoints that the present one stands on and that were passed with them:
// what was only named, or what a person has approved.
func (s *Session) TamperedOn() []Tampering {
	var out []Tampering
	seen := map[Tampering]bool{}
	for _, c := range s.Way() {
		for _, t := range c.Tampered {
			if c.Verdict == Pass && !seen[t] {
				seen[t] = true
				out = append(out, t)
			}
		}
	}
	return out
}
