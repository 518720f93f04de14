package workflows

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Finding is one reason why a file is refused.
type Finding struct {
	File    string // as the caller named it; "" when no single file is meant
	Line    int    // from 1; 0 when no single line is meant
	Message string
	Hint    string // what to do about it, "" when the message says it
	NoAgent bool   // nobody is configured to work
}

// String returns "file:line: message", without what is unknown.
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

// sortFindings brings findings into line order; those of one line stay in the order in which they were found.
func sortFindings(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
}

// Findingf makes one of a format for its message and, after a line break, for its hint.
func Findingf(format string, args ...any) Finding {
	message, hint, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	return Finding{Message: message, Hint: hint}
}
