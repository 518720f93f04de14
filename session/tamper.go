package session

import (
	"fmt"
	"strings"
)

// Kinds of findings that experiments produce.
const (
	FoundOnlySo     = "passes_only_so"     // the code does not pass the tests as they were
	FoundWeaker     = "assertion_weakened" // a test as it was detects a change of the code that it does not detect now
	FoundEdited     = "test_edited"        // and the code could not be judged with the test as it was
	FoundCannotFail = "tests_cannot_fail"  // they also pass with other expected values
	FoundDeaf       = "test_cannot_fail"   // one of several does, or checks no result of the code
	FoundNotNeeded  = "code_not_needed"    // they pass although the attempt's code fails
)

// Tampering is one change to tests since they were frozen. It quotes one line of code, and no output.
type Tampering struct {
	// `passes_only_so` (the code does not pass the frozen tests), `assertion_weakened` (the frozen test detects a
	// change of the code that the new one does not detect), `test_edited` (and the code could not be judged with the
	// frozen test), `tests_cannot_fail` (they also pass with other expected values), `test_cannot_fail` (one of
	// several does, or checks no result of the lap's code), `code_not_needed` (they pass although the lap's code
	// fails). Versions before this one also wrote other kinds
	Kind string `json:"kind"`
	Path string `json:"path"` // the file
	// the test, entry of a snapshot, or part of a configuration
	Test string `json:"test,omitempty"`
	// of the new text, or of the old one if the new one does not have it
	Line   int    `json:"line,omitempty"`
	Before string `json:"before,omitempty" text:"free"` // one line; a package with its version
	// one line; a package with its version, or the problem
	After string `json:"after,omitempty" text:"free"`
	Grave bool   `json:"grave,omitempty"` // it weakens tests; otherwise it is only mentioned
}

// Grave returns those findings of a judgement that weaken tests.
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

// Beside returns the finding for display below a text, without the code if that text already has it.
func (t Tampering) Beside(text string) Tampering {
	if t.After != "" && strings.Contains(text, t.After) {
		t.Before, t.After = "", ""
	}
	return t
}
