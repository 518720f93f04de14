package session

import (
	"fmt"
	"strings"
)

// Kinds of findings about tests that experiments produce. "Frozen" tests are the tests as RED left them, or as a person
// has approved them since.
const (
	FoundOnlySo = "passes_only_so" // the code does not pass the frozen tests
	// the frozen test detects a change of the code that the changed test does not detect
	FoundWeaker     = "assertion_weakened"
	FoundEdited     = "test_edited"       // a test was changed, and the code could not be judged with the frozen test
	FoundCannotFail = "tests_cannot_fail" // the tests also pass with other expected values
	// one of several tests also passes with other expected values, or checks no result of the code
	FoundDeaf      = "test_cannot_fail"
	FoundNotNeeded = "code_not_needed" // the tests pass although the attempt's code is replaced by code that fails
)

// Tampering is one finding about a change to tests since they were frozen. It quotes one line of code, and no output of
// a gate.
type Tampering struct {
	// `passes_only_so` (the code does not pass the frozen tests), `assertion_weakened` (the frozen test detects a
	// change of the code that the new test does not detect), `test_edited` (a test was changed, and the code could not
	// be judged with the frozen test), `tests_cannot_fail` (the tests also pass with other expected values),
	// `test_cannot_fail` (one of several tests also passes with other expected values, or checks no result of the lap's
	// code), `code_not_needed` (the tests pass although the lap's code fails). Older versions also wrote other kinds
	Kind string `json:"kind"`
	Path string `json:"path"` // the changed file
	// name of the test, entry of a snapshot, or part of a configuration
	Test string `json:"test,omitempty"`
	// line in the new text, or in the old text if the new text does not have it
	Line   int    `json:"line,omitempty"`
	Before string `json:"before,omitempty" text:"free"` // the line before the change; for a package its version
	// the line after the change; for a package its version, or the problem
	After string `json:"after,omitempty" text:"free"`
	Grave bool   `json:"grave,omitempty"` // the change weakens tests; without it, the finding is only mentioned
}

// Grave returns the findings of a judgement that weaken tests.
func (j *Judgement) Grave() []Tampering {
	var out []Tampering
	for _, t := range j.Tampered {
		if t.Grave {
			out = append(out, t)
		}
	}
	return out
}

// String returns the finding in one line: place, kind, and the code before and after.
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

// Beside returns the finding for display next to a text. If the text already contains the code, the finding leaves it
// out.
func (t Tampering) Beside(text string) Tampering {
	if t.After != "" && strings.Contains(text, t.After) {
		t.Before, t.After = "", ""
	}
	return t
}
