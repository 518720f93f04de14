package safetext

import (
	"fmt"
	"strings"
)

// Plural is "1 test fails", "3 tests fail".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Listed is "1 test fails: a", "3 tests fail: a, b, c".
func Listed[T ~string](names []T, one, many string) string {
	return Plural(len(names), one, many) + ": " + Some(names)
}

// Some lists the first few of many.
func Some[T ~string](names []T) string {
	const most = 3
	if len(names) > most {
		return Some(names[:most]) + fmt.Sprintf(" and %d more", len(names)-most)
	}
	var text strings.Builder
	for i, n := range names {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(string(n))
	}
	return text.String()
}
