package workflows

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Suggest returns the known word that was most likely meant, or "".
func Suggest(word string, known []string) string {
	word = plain(word)
	if n := utf8.RuneCountInString(word); n == 0 || n > 40 {
		return "" // longer ones are no typing mistakes, and would cost time
	}
	best, least := "", 3
	for _, k := range known {
		// Half of a word must be right: "use" is not "run".
		if d := distance(word, plain(k)); d < least && 2*d < max(len(word), len(k)) {
			best, least = k, d
		}
	}
	return best
}

// plain makes the usual spellings of one key equal: no_progress, No-Progress.
func plain(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// distance is the number of runes to insert, delete, replace or swap with their neighbour to turn a into b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

// Alternatives says what could have been meant: the nearest known word, or all of them.
func Alternatives(word string, known []string) string {
	if near := Suggest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "known: " + strings.Join(known, ", ")
}
