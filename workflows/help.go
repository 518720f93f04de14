package workflows

import (
	_ "embed"
	"strings"
)

//go:embed help.txt
var helpText string

// parseHelp returns a description of every object and every key, for JSON Schemas and for findings about missing keys.
// Keys are written with underscores instead of dashes. In help.txt, a line that begins with blanks continues the
// previous line.
func parseHelp(text string) map[string]string {
	help := map[string]string{}
	last := ""
	for line := range strings.Lines(text) {
		name, about, _ := strings.Cut(line, " ")
		if name = strings.TrimSpace(name); name != "" {
			last = name
		}
		help[last] = strings.TrimSpace(help[last] + " " + strings.TrimSpace(about))
	}
	return help
}
