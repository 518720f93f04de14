package workflows

import (
	"slices"
	"strings"
)

// launchers run whatever comes next: alone, or with options only, they would allow everything.
var launchers = []string{"node", "python", "python3", "ruby", "php", "perl", "sh", "bash", "npx", "uv", "poetry",
	"pdm", "bundle", "deno", "bun", "env", "dotnet",
	"exec", "run"}

// Beginning is the beginning of a command that says which program it is and what it does: "go test" of
// `go test -json ./...`, "python3 -m pytest". It is "" when there is none that would not allow everything.
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

// saysNothing reports whether these words do not say what a command does.
func saysNothing(words []string) bool {
	return len(words) == 0 || words[0] == "cd" || len(words) == 1 && words[0] == "git"
}

// words are those of a command, without variables that are set before it, and without git's own options.
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

// launches reports whether these words would run whatever comes next.
func launches(words []string) bool {
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1] // an option is only taken behind a launcher
	return slices.Contains(launchers, last) || strings.HasPrefix(last, "-") && last != "--test"
}

// pastOptions are the words after git's own options, which stand before its subcommand.
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
