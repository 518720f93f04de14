package cmd

import (
	"strings"
	"testing"
)

// holds checks that what was printed holds some texts.
func holds(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("%q is not in:\n%s", text, out)
		}
	}
}
