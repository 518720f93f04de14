package session

import (
	"fmt"
	"strings"
)

// Name returns HEAD's position in the form that Turn uses: the full name of a ref, or a commit if HEAD is detached.
func (h Head) Name() string {
	if h.Ref != "" {
		return h.Ref
	}
	return string(h.Commit)
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

// ListTests returns the first five names of a list of tests as text, and the number of the others.
func ListTests(ids []TestID) string {
	const most = 5
	var list []string
	for i, id := range ids {
		if i == most {
			list = append(list, fmt.Sprintf("and %d more", len(ids)-most))
			break
		}
		list = append(list, string(id))
	}
	return strings.Join(list, ", ")
}

// Plural returns `one` if n is 1, and `many` otherwise.
func Plural(n int, one, many string) string {
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
