package safetext

import (
	"fmt"
	"strings"
)

// Plural returns a number with the singular or plural words after it: "1 test fails", "3 tests fail".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Listed returns a number and the names: "1 test fails: a", "3 tests fail: a, b, c".
func Listed[T ~string](names []T, one, many string) string {
	return Plural(len(names), one, many) + ": " + Some(names)
}

// Some lists the first three names, and says how many more there are.
func Some[T ~string](names []T) string { return First(names, 3, ", ") }

// First lists the first `most` names, separated by `sep`, and says how many more there are.
func First[T ~string](list []T, most int, sep string) string {
	var text strings.Builder
	for i, x := range list[:min(len(list), most)] {
		if i > 0 {
			text.WriteString(sep)
		}
		text.WriteString(string(x))
	}
	if n := len(list) - most; n > 0 {
		fmt.Fprintf(&text, " and %d more", n)
	}
	return text.String()
}

// ShortRef returns the name of a branch without refs/heads/. It returns other refs unchanged.
func ShortRef(ref string) string {
	if name := strings.TrimPrefix(ref, "refs/heads/"); name != "" {
		return name
	}
	return ref
}

// FirstLine returns a text up to its first line break.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// Word returns `one` if n is 1, and `many` otherwise.
func Word(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// OneLine joins the lines of a text and shortens the result to at most `max` characters.
func OneLine(s string, max int) string {
	s = strings.Join(strings.Fields(s), " ")
	r := []rune(s)
	if len(r) <= max {
		return s
	}
	s = string(r[:max-1])
	// cut at a space: the rest of a cut word may be half a secret, which redaction would not recognise
	if space := strings.LastIndexByte(s, ' '); space > len(s)/2 {
		s = s[:space]
	}
	return s + "…"
}

// WithReason appends a reason to a text, as one line. It returns the text unchanged if there is no reason.
func WithReason(what, text string) string {
	if text = OneLine(text, 200); text != "" {
		what += ": " + text
	}
	return what
}
