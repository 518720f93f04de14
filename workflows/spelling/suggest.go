package spelling

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Suggest returns the known word that is most similar to a mistyped one, "" if none is similar enough.
func Suggest(word string, known []string) string {
	word = plain(word)
	if n := utf8.RuneCountInString(word); n == 0 || n > 40 {
		return "" // too long for a typing mistake, and slow to compare
	}
	best, least := "", 3
	for _, k := range known {
		// More than half of the word must match: "use" does not suggest "run".
		if d := distance(word, plain(k)); d < least && 2*d < max(len(word), len(k)) {
			best, least = k, d
		}
	}
	return best
}

// plain converts a key to lower case with dashes, so that its usual spellings become equal: no_progress, No-Progress.
func plain(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// distance returns the edit distance of a and b: how many runes must be inserted, deleted, replaced, or swapped with
// their neighbour.
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

// Alternatives returns a hint for an unknown word: the most similar known word, or all known words if none is similar.
func Alternatives(word string, known []string) string {
	if near := Suggest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "known: " + strings.Join(known, ", ")
}
