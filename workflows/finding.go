package workflows

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Finding is one reason why a file is refused.
type Finding struct {
	File    string // as the caller named it; "" if it is not about a single file
	Line    int    // from 1; 0 if it is not about a single line
	Message string
	Hint    string // how to fix it, "" if the message says it
	NoAgent bool   // no agent is configured
}

// String returns "file:line: message", without unknown parts.
func (f Finding) String() string {
	switch {
	case f.File == "":
		return f.Message
	case f.Line == 0:
		return fmt.Sprintf("%s: %s", f.File, f.Message)
	default:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	}
}

// sortFindings sorts findings by line; findings of one line stay in the order in which they were found.
func sortFindings(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
}

// Findingf formats a finding: the message and, after a line break, the hint.
func Findingf(format string, args ...any) Finding {
	message, hint, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	return Finding{Message: message, Hint: hint}
}
