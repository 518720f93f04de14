package cmd

import (
	"strings"
	"testing"
)

func TestCompletionScripts(t *testing.T) {
	for _, shell := range shells {
		text, err := completionScript((&app{}).root(), shell)
		if err != nil || len(text) < 1000 {
			t.Errorf("%s: %d bytes, %v", shell, len(text), err)
		}
		for _, never := range map[string][]string{"bash": {"-n =: ", "_filedir -d"}}[shell] {
			if strings.Contains(text, never) {
				t.Errorf("%s: the script still has %q", shell, never)
			}
		}
	}
}
