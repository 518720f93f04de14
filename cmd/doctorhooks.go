package cmd

import (
	"context"
	"os"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/workspace/check"
)

// checkHooks checks whether the hooks by which agents call wfs are complete, and whether the program exists.
func (a *doctorVerb) checkHooks(ctx context.Context) (found []check.Finding, err error) {
	for _, user := range []bool{false, true} {
		path, err := hookFiles{a.app}.path(ctx, user)
		if err != nil {
			continue // no home directory, so no settings
		}
		text, err := durable.ReadFile(path, maxSettings)
		if err != nil {
			continue // no settings, or unreadable for the agent as well
		}
		_, hooks, err := readHooks(text)
		if err != nil || hooks == nil {
			continue
		}
		f := check.Finding{Level: check.Warns, About: "hook", Where: path, Next: "wfs hook install"}
		if user {
			f.Next += " --user"
		}
		called := hookCommands(hooks)
		switch missing := missingProgram(called); {
		case len(called) == 0:
			continue
		case missing != "":
			f.What, f.Follows = "calls "+missing+", which does not exist", "nothing is saved while you work with the agent"
		case len(called) < len(hooked):
			f.What, f.Follows = "has only some of the wfs hooks", "less is saved while you work with the agent"
		default:
			continue
		}
		found = append(found, f)
	}
	return found, nil
}

// missingProgram is the first program that is called by its path and does not exist.
func missingProgram(commands []string) string {
	for _, c := range commands {
		program, _, _ := strings.Cut(c, " hook run ")
		program = strings.ReplaceAll(strings.Trim(program, "'"), `'\''`, "'")
		if !strings.ContainsRune(program, os.PathSeparator) {
			continue
		}
		if _, err := os.Stat(program); err != nil {
			return program
		}
	}
	return ""
}
