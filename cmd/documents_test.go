package cmd

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var inlineCode = regexp.MustCompile("`(wfs [^`]+)`")

// TestReadmeIsShort limits the README to what you need before a first try; the rest belongs in docs/guide.md.
func TestReadmeIsShort(t *testing.T) {
	const most = 9216
	if data, err := os.ReadFile("../README.md"); err != nil || len(data) > most {
		t.Errorf("README.md has %d bytes, at most %d are allowed (%v)", len(data), most, err)
	}
}

// TestDocumentedCommands parses every wfs command in the user documentation.
func TestDocumentedCommands(t *testing.T) {
	for _, file := range []string{"README.md", "docs/guide.md", "docs/limits.md", "docs/workflows.md"} {
		data, err := os.ReadFile("../" + file)
		if err != nil {
			t.Fatal(err)
		}
		found, fenced := 0, false
		for _, line := range strings.Split(string(data), "\n") {
			var commands []string
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			} else if typed := strings.TrimPrefix(line, "$ "); !fenced {
				for _, m := range inlineCode.FindAllStringSubmatch(line, -1) {
					commands = append(commands, m[1])
				}
			} else if strings.HasPrefix(typed, "wfs ") || strings.Contains(typed, "wfs path ") || strings.Contains(typed, "&& wfs ") {
				commands = append(commands, typed)
			}
			for _, c := range commands {
				found++
				if err := tryDocumented(c); err != nil {
					t.Errorf("%s: %q: %v", file, c, err)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: no command was found", file)
		}
	}
}

// tryDocumented parses a command. A bare command, such as `wfs note`, needs no arguments.
func tryDocumented(line string) error {
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	if c, _, err := root.Find(strings.Fields(line)[1:]); err == nil && !c.Hidden && c.CommandPath() == line {
		return nil
	}
	_, err := tryExample(line)
	return err
}
