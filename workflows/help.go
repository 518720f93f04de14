package workflows

import (
	_ "embed"
	"strings"
)

//go:embed help.txt
var helpText string

// help describes every object and every key, with an underscore for each dash, for the JSON Schemas and for findings
// about missing keys. A line that begins with blanks continues the line before.
var help = parseHelp(helpText)

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
