package phases

import (
	"fmt"
	"slices"
	"strings"
)

// people is what people said to whoever works next. It comes first.
func (b *brief) people() {
	if len(b.req.Notes) == 0 {
		return
	}
	b.section("From people")
	var notes []string // the newest first: what does not fit are the oldest
	left := maxNoted
	for _, n := range slices.Backward(b.req.Notes) {
		if len(notes) == maxNotes || left <= 0 {
			break
		}
		text := cut(person(n), left)
		left -= len(text)
		notes = append(notes, "- "+strings.ReplaceAll(text, "\n", "\n  "))
	}
	if more := len(b.req.Notes) - len(notes); more > 0 {
		notes = append(notes, fmt.Sprintf("- (%d older ones are left out)", more))
	}
	slices.Reverse(notes)
	b.line("%s", strings.Join(notes, "\n"))
}
