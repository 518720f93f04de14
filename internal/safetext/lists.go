package safetext

import (
	"fmt"
	"strings"
)

// Some are the first of a list, and how many more there are.
func Some[T ~string](list []T, most int, sep string) string {
	var names []string
	for _, x := range list[:min(len(list), most)] {
		names = append(names, string(x))
	}
	text := strings.Join(names, sep)
	if n := len(list) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
