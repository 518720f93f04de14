package session

import (
	"fmt"
	"strings"
)

// Name returns HEAD's position in the form that turns have: a ref, or a commit if it is detached.
func (h Head) Name() string {
	if h.Ref != "" {
		return h.Ref
	}
	return string(h.Commit)
}

// ShortRef returns the name of a branch without refs/heads/, and other names unchanged.
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

// ListTests returns the first names of a list of tests, for people.
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

// Plural returns one if n is 1, and many otherwise.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// OneLine cuts text to one line of at most max characters.
func OneLine(s string, max int) string {
	s = strings.Join(strings.Fields(s), " ")
	r := []rune(s)
	if len(r) <= max {
		return s
	}
	s = string(r[:max-1])
	if space := strings.LastIndexByte(s, ' '); space > len(s)/2 { // half a word may be half a secret
		s = s[:space]
	}
	return s + "…"
}

// WithReason appends a reason to a text, in one line.
func WithReason(what, text string) string {
	if text = OneLine(text, 200); text != "" {
		what += ": " + text
	}
	return what
}
