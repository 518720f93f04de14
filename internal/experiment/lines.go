// Package experiment changes source code on purpose, to find out what tests notice: expected values (canary), the
// bodies of functions (hollow), and single operators and numbers (mutants). It also tells whether two states of a
// project's tests differ in nothing but names. It reads tokens, not grammars, and runs nothing.
package experiment

import (
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/source"
)

// Lines are numbers of lines of a file, from 1.
type Lines map[int]bool

// Only are those of the lines that are to be kept.
func (l Lines) Only(keep func(n int) bool) Lines {
	out := Lines{}
	for n := range l {
		if keep(n) {
			out[n] = true
		}
	}
	return out
}

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

// SameCode reports whether two texts of a file differ in nothing but comments and layout. Of a language that is not
// known every change counts.
func SameCode(file string, before, after []byte) bool {
	l := source.LanguageOf(file)
	if l == nil {
		return string(before) == string(after)
	}
	column := func(src []byte, t source.Token) int { // indentation says what a line of Python belongs to
		return t.From - 1 - strings.LastIndexByte(string(src[:t.From]), '\n')
	}
	a, b := l.Tokens(before), l.Tokens(after)
	return slices.EqualFunc(a, b, func(x, y source.Token) bool {
		return x.Text == y.Text && (l.Braces || column(before, x) == column(after, y))
	})
}

// wordSet is the set of the words of a text.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// opposites are words of a text, of which each two stand for each other.
func opposites(text string) map[string]string {
	words := map[string]string{}
	for pair := range slices.Chunk(strings.Fields(text), 2) {
		words[pair[0]], words[pair[1]] = pair[1], pair[0]
	}
	return words
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

// tokens are those of a file.
type tokens []source.Token

// text is that of a token, "" before the first and behind the last.
func (t tokens) text(i int) string {
	if i < 0 || i >= len(t) {
		return ""
	}
	return t[i].Text
}

// is reports whether a token has one of some texts.
func (t tokens) is(i int, texts ...string) bool {
	return i >= 0 && i < len(t) && slices.Contains(texts, t[i].Text)
}

// begins reports whether a token is the first of a line.
func (t tokens) begins(i, line int) bool { return t[i].Line == line && (i == 0 || t[i-1].Line < line) }

// spell reports whether some texts stand at a token.
func (t tokens) spell(i int, texts ...string) bool {
	for n, text := range texts {
		if t.text(i+n) != text {
			return false
		}
	}
	return true
}

// has reports whether one of the tokens has one of some texts.
func (t tokens) has(texts ...string) bool {
	return slices.ContainsFunc(t, func(x source.Token) bool { return slices.Contains(texts, x.Text) })
}
