package testkit

import (
	"strings"
	"testing"
)

// Holds fails the test if the output lacks any of the texts.
func Holds(t testing.TB, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("%q is not in:\n%s", text, out)
		}
	}
}
