package session

import "strings"

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
