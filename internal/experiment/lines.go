// Package experiment changes source code to find out whether tests notice the change. It can change expected values in
// tests (canary), bodies of functions (hollow), results of functions (results), and single operators and numbers
// (mutants). It also detects whether two versions of a project's tests differ only in names. It works on tokens,
// without a parser, and runs no code.
package experiment

import (
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/source"
)

// Lines is a set of line numbers in a file, counted from 1.
type Lines map[int]bool

// Only returns the lines for which keep is true.
func (l Lines) Only(keep func(n int) bool) Lines {
	out := Lines{}
	for n := range l {
		if keep(n) {
			out[n] = true
		}
	}
	return out
}

// Added returns the numbers of the lines that `after` has and `before` does not have, wherever they are in the files.
// If a line is more often in `after` than in `before`, only the additional ones count. Empty lines do not count.
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

// SameCode reports whether two versions of a file differ only in comments and white space. If this package does not
// know the language, any difference counts.
func SameCode(file string, before, after []byte) bool {
	l := source.LanguageOf(file)
	if l == nil {
		return string(before) == string(after)
	}
	column := func(src []byte, t source.Token) int { // in Python the column says to which block a line belongs
		return t.From - 1 - strings.LastIndexByte(string(src[:t.From]), '\n')
	}
	a, b := l.Tokens(before), l.Tokens(after)
	return slices.EqualFunc(a, b, func(x, y source.Token) bool {
		return x.Text == y.Text && (l.Braces || column(before, x) == column(after, y))
	})
}

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// opposites reads pairs of words, and maps each word of a pair to the other one.
func opposites(text string) map[string]string {
	words := map[string]string{}
	for pair := range slices.Chunk(strings.Fields(text), 2) {
		words[pair[0]], words[pair[1]] = pair[1], pair[0]
	}
	return words
}

// edit replaces a range of bytes of a file by a text.
type edit struct {
	from, to int
	text     string
}

// apply applies edits that are sorted by position, and returns the new content. It skips an edit that overlaps the
// previous one.
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

type tokens []source.Token

// text returns the text of the token at i, or "" if there is no such token.
func (t tokens) text(i int) string {
	if i < 0 || i >= len(t) {
		return ""
	}
	return t[i].Text
}

// is reports whether the token at i has one of the texts.
func (t tokens) is(i int, texts ...string) bool {
	return i >= 0 && i < len(t) && slices.Contains(texts, t[i].Text)
}

// begins reports whether a token is the first on its line.
func (t tokens) begins(i, line int) bool { return t[i].Line == line && (i == 0 || t[i-1].Line < line) }

// spell reports whether the tokens from i on have the given texts.
func (t tokens) spell(i int, texts ...string) bool {
	for n, text := range texts {
		if t.text(i+n) != text {
			return false
		}
	}
	return true
}

// has reports whether any of the tokens has one of the texts.
func (t tokens) has(texts ...string) bool {
	return slices.ContainsFunc(t, func(x source.Token) bool { return slices.Contains(texts, x.Text) })
}
