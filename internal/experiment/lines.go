// Package experiment changes source code on purpose, to find out what tests notice: expected values (canary), the bodies
// of functions (hollow), and single operators and numbers (mutants). It also tells whether two states of a project's tests
// differ in nothing but names. It reads tokens, not grammars, and runs nothing.
package experiment

import "strings"

// Lines are numbers of lines of a file, from 1.
type Lines map[int]bool

// Added are the lines of a text that an older one does not have, wherever they stand. Empty lines are none of them.
func Added(before, after []byte) Lines {
	had := map[string]int{}
	for line := range strings.Lines(string(before)) {
		had[strings.TrimSpace(line)]++
	}
	added, n := Lines{}, 0
	for line := range strings.Lines(string(after)) {
		n++
		text := strings.TrimSpace(line)
		if had[text]--; had[text] < 0 && text != "" {
			added[n] = true
		}
	}
	return added
}

// edit puts a text in place of some bytes.
type edit struct {
	from, to int
	text     string
}

// apply makes edits, which are in the order of their places and do not overlap.
func apply(src []byte, edits []edit) []byte {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue
		}
		b.Write(src[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.Write(src[at:])
	return []byte(b.String())
}
