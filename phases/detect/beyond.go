package detect

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// gatesOf makes gates of commands that are judged by their exit code.
func gatesOf(commands []string) []workflows.Gate {
	var gates []workflows.Gate
	for _, c := range commands {
		g := testsGate(c, workflows.FormatExit)
		if g.Name = gateName(commandName(c)); g.Name == "coverage" {
			g.When = workflows.WhenFinish // it runs all tests again
		}
		gates = append(gates, g)
	}
	return gates
}

// commandName is the script that a command runs, or its tool.
func commandName(command string) string {
	words := strings.Fields(command)
	for len(words) > 1 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=") ||
		slices.Contains([]string{"npx", "npm", "pnpm", "yarn", "bun", "exec", "run", "composer", "make", "uv", "poetry", "python", "python3", "go"}, words[0])) {
		words = words[1:]
	}
	if slices.Contains(words, "--coverage") {
		return "coverage"
	}
	return path.Base(words[0])
}

// checks matches commands that look at code and run no tests.
var checks = regexp.MustCompile(`(^|[\s/:@-])(lint|vet|eslint|golangci-lint|staticcheck|gofmt|ruff|flake8|mypy|pyright|pylint|` +
	`black|isort|phpstan|psalm|phpcs|rubocop|clippy|tsc|typecheck|type-check|types|style|format-check|check-format|fmt-check)($|[\s:])`)

var quoted = regexp.MustCompile(`"[^"]*"|'[^']*'`)

// besideTests are the checks that a project's own test command runs: `make test`, tox, Composer's script, a task of
// pyproject.toml.
func (p *project) besideTests() []string {
	var list []string
	add := func(command, as string) {
		if command = strings.TrimSpace(command); checks.MatchString(command) && !strings.ContainsAny(command, "$`{}") && !slices.Contains(list, as) {
			list = append(list, as)
		}
	}
	in := false
	for line := range strings.Lines(p.text("Makefile")) {
		recipe, indented := strings.CutPrefix(line, "\t")
		needs, begins := strings.CutPrefix(line, "test:")
		switch {
		case begins && !strings.HasPrefix(needs, "="):
			in = true
			for _, target := range strings.Fields(needs) {
				add(target, "make "+target)
			}
		case in && indented:
			recipe = strings.TrimLeft(strings.TrimSpace(recipe), "@-")
			add(recipe, recipe)
		case strings.TrimSpace(line) != "":
			in = false
		}
	}
	section, key := "", ""
	for line := range strings.Lines(p.text("tox.ini")) {
		text := strings.TrimSpace(line)
		name, value, assigns := strings.Cut(text, "=")
		switch {
		case strings.HasPrefix(text, "["):
			section, key = text, ""
		case assigns && text != "" && line[0] > ' ':
			key, text = strings.TrimSpace(name), strings.TrimSpace(value)
		}
		if section == "[testenv]" && key == "commands" {
			add(text, text)
		}
	}
	var composer struct {
		Scripts map[string]json.RawMessage `json:"scripts"`
	}
	_ = json.Unmarshal([]byte(p.text("composer.json")), &composer)
	var steps []string
	if json.Unmarshal(composer.Scripts["test"], &steps) != nil {
		steps = make([]string, 1)
		_ = json.Unmarshal(composer.Scripts["test"], &steps[0])
	}
	for _, step := range steps {
		if script, ok := strings.CutPrefix(step, "@"); ok {
			add(script, "composer run "+script)
		} else {
			add(step, step)
		}
	}
	for line := range strings.Lines(p.text("pyproject.toml")) {
		name, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(name) != "test" {
			continue
		}
		for _, text := range quoted.FindAllString(value, -1) {
			for _, command := range commandsOf(strings.Trim(text, `"'`)) {
				add(command, strings.TrimSpace(command))
			}
		}
	}
	return list
}
