package safetext

import (
	"fmt"
	"strings"
)

// Plural returns a number with the singular or plural words after it: "1 test fails", "3 tests fail".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Listed returns a number and the names: "1 test fails: a", "3 tests fail: a, b, c".
func Listed[T ~string](names []T, one, many string) string {
	return Plural(len(names), one, many) + ": " + Some(names)
}

// Some lists the first three names, and says how many more there are.
func Some[T ~string](names []T) string { return First(names, 3, ", ") }

// First lists the first `most` names, separated by `sep`, and says how many more there are.
func First[T ~string](list []T, most int, sep string) string {
	var text strings.Builder
	for i, x := range list[:min(len(list), most)] {
		if i > 0 {
			text.WriteString(sep)
		}
		text.WriteString(string(x))
	}
	if n := len(list) - most; n > 0 {
		fmt.Fprintf(&text, " and %d more", n)
	}
	return text.String()
}
