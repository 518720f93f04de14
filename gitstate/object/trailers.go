package object

import (
	"strings"
)

// WithTrailers adds trailers to a commit message: to its last paragraph if that has only trailers, otherwise as a new
// paragraph.
func WithTrailers(message string, trailers ...string) string {
	message = strings.TrimRight(message, "\n")
	if len(trailers) == 0 {
		return message + "\n"
	}
	gap := "\n\n"
	if i := strings.LastIndex(message, "\n\n"); i >= 0 && allTrailers(message[i+2:]) {
		gap = "\n"
	}
	return message + gap + strings.Join(trailers, "\n") + "\n"
}

func allTrailers(paragraph string) bool {
	for _, line := range strings.Split(paragraph, "\n") {
		key, _, ok := strings.Cut(line, ": ")
		if !ok || key == "" || strings.ContainsAny(key, " \t") {
			return false
		}
	}
	return true
}
