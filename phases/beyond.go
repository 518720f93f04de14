package phases

import (
	"cmp"
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

// makeTest are what the target "test" of a Makefile needs, and its recipe. toxCommands are those of tox's only environment.
var (
	makeTest    = regexp.MustCompile(`(?m)^test:([^=\n].*)?\n((?:\t.*\n|\n)*)`)
	toxCommands = regexp.MustCompile(`(?m)^\[testenv\]\n(?:[^\[\n].*\n|\n)*?commands *=(.*\n(?:[ \t]+.*\n|\n)*)`)
)

// besideTests are the checks that a project's own test command runs: `make test`, tox, Composer's script.
func (p *project) besideTests() []string {
	var list []string
	add := func(command, as string) {
		as = cmp.Or(as, command)
		if checks.MatchString(command) && !strings.ContainsAny(command, "$`{}") && !slices.Contains(list, as) {
			list = append(list, as)
		}
	}
	if m := makeTest.FindStringSubmatch(p.text("Makefile") + "\n"); m != nil {
		for _, target := range strings.Fields(m[1]) {
			add(target, "make "+target)
		}
		for line := range strings.Lines(m[2]) {
			add(strings.TrimLeft(strings.TrimSpace(line), "@-"), "")
		}
	}
	if m := toxCommands.FindStringSubmatch(p.text("tox.ini") + "\n"); m != nil {
		for line := range strings.Lines(m[1]) {
			add(strings.TrimSpace(line), "")
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
			add(strings.TrimSpace(step), "")
		}
	}
	return list
}
