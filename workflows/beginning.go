package workflows

import (
	"slices"
	"strings"
)

// launchers run the command in their arguments: alone, or with options only, they would allow everything.
var launchers = []string{"node", "python", "python3", "ruby", "php", "perl", "sh", "bash", "npx", "uv", "poetry",
	"pdm", "bundle", "deno", "bun", "env", "dotnet",
	"exec", "run"}

// Beginning returns the first words of a command that identify the program and its action: "go test" of `go test -json
// ./...`, "python3 -m pytest". It returns "" if they would allow everything.
func (c Command) Beginning() string {
	var out []string
	for _, w := range c.words() {
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

// saysNothing reports whether these words do not identify an action.
func saysNothing(words []string) bool {
	return len(words) == 0 || words[0] == "cd" || len(words) == 1 && words[0] == "git"
}

// words returns the words of a command, without leading assignments of variables and git's own options.
func (c Command) words() []string {
	fields := c.Argv
	if c.Shell != "" {
		fields = strings.Fields(c.Shell)
	}
	for len(fields) > 0 && strings.Contains(fields[0], "=") { // CI=true npx …
		fields = fields[1:]
	}
	if len(fields) > 0 && fields[0] == "git" { // git -C . push
		fields = append([]string{"git"}, pastOptions(fields[1:])...)
	}
	return fields
}

// launches reports whether these words would run any command that follows.
func launches(words []string) bool {
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1] // options are only accepted after a launcher
	return slices.Contains(launchers, last) || strings.HasPrefix(last, "-") && last != "--test"
}

// pastOptions returns the words after git's own options, which come before its subcommand.
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
