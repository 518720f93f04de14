package cmd

import (
	"context"
	"os"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/workspace/check"
)

// checkHooks checks the hooks that make agents call wfs. It warns if some are missing, or if they call a program that
// does not exist.
func (a *doctorVerb) checkHooks(ctx context.Context) (found []check.Finding, err error) {
	for _, user := range []bool{false, true} {
		path, err := hookFiles{a.app}.path(ctx, user)
		if err != nil {
			continue // no home directory, and so no settings
		}
		text, err := durable.ReadFile(path, maxSettings)
		if err != nil {
			continue // no settings, or the agent cannot read them, either
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

// missingProgram returns the first program that the commands call by its path and that does not exist. It returns "" if
// there is none.
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
