package agent

import (
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// launchers are programs and subcommands that run the command in their arguments. Permitting one of them alone, or with
// only options, would permit every command.
var launchers = []string{"node", "python", "python3", "ruby", "php", "perl", "sh", "bash", "npx", "uv", "poetry",
	"pdm", "bundle", "deno", "bun", "env", "dotnet",
	"exec", "run"}

// Beginning returns the first words of a command that identify the program and its action: "go test" for `go test -json
// ./...`, "python3 -m pytest". An agent can be permitted to run every command that begins so. It returns "" if these
// words would permit everything.
func Beginning(c workflows.Command) string {
	var out []string
	for _, w := range words(c) {
		if strings.ContainsAny(w, "$\"'`\\&|;<>(){}*?[]#~!,:") || strings.Contains(w, "...") {
			break
		}
		if !launches(out) && (strings.HasPrefix(w, "-") || len(out) >= 2) {
			break
		}
		out = append(out, w)
	}
	if saysNothing(out) || launches(out) {
		return ""
	}
	return strings.Join(out, " ")
}

// saysNothing reports whether the words are too general to identify an action.
func saysNothing(words []string) bool {
	return len(words) == 0 || words[0] == "cd" || len(words) == 1 && words[0] == "git"
}

// words returns the words of a command, without variable assignments at the start and without the options of git
// itself.
func words(c workflows.Command) []string {
	fields := c.Argv
	if c.Shell != "" {
		fields = strings.Fields(c.Shell)
	}
	for len(fields) > 0 && strings.Contains(fields[0], "=") { // such as `CI=true npx …`
		fields = fields[1:]
	}
	if len(fields) > 0 && fields[0] == "git" { // such as `git -C . push`
		fields = append([]string{"git"}, pastOptions(fields[1:])...)
	}
	return fields
}

// launches reports whether the words end in a program or an option after which any command can follow.
func launches(words []string) bool {
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1] // the caller accepts options only after a launcher
	return slices.Contains(launchers, last) || strings.HasPrefix(last, "-") && last != "--test"
}

// pastOptions returns the words from git's subcommand on: it skips the options of git itself, which come first.
func pastOptions(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		n := 1
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace"}, words[0]) {
			n = min(2, len(words))
		}
		words = words[n:]
	}
	return words
}
