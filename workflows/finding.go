package workflows

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Finding is one reason why a file or a plan is refused.
type Finding struct {
	File    string // name of the file, as the caller named it; "" if the finding is not about a single file
	Line    int    // line in the file, from 1; 0 if the finding is not about a single line
	Message string
	Hint    string // how to fix it, "" if Message says it already
	NoAgent bool   // the reason is that no agent is configured
}

// String returns "file:line: message". It leaves out the file and the line if they are unknown.
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

// sortFindings sorts findings by line. Findings of the same line keep their order.
func sortFindings(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
}

// Findingf returns a finding from a formatted text: the first line is the message, the rest is the hint.
func Findingf(format string, args ...any) Finding {
	message, hint, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	return Finding{Message: message, Hint: hint}
}
