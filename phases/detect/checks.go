package detect

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/workflows"
)

// gatesOf makes gates for commands that are judged by their exit code.
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

// launchers run another command, after which a gate is named.
var launchers = strings.Fields("npx npm pnpm yarn bun exec run composer make uv poetry python python3 go")

// commandName returns the script that a command runs, or its tool.
func commandName(command string) string {
	words := strings.Fields(command)
	for len(words) > 1 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=") ||
		slices.Contains(launchers, words[0])) {
		words = words[1:]
	}
	if slices.Contains(words, "--coverage") {
		return "coverage"
	}
	return path.Base(words[0])
}

var (
	// checks matches commands that look at code and run no tests.
	checks = lazyregexp.New(`(^|[\s/:@-])(lint|vet|eslint|golangci-lint|staticcheck|gofmt|ruff|flake8|mypy|pyright|pylint|` +
		`black|isort|phpstan|psalm|phpcs|rubocop|clippy|tsc|typecheck|type-check|types|style|format-check|check-format|fmt-check)($|[\s:])`)
	quoted      = lazyregexp.New(`"[^"]*"|'[^']*'`)
	makeTest    = lazyregexp.New(`(?m)^test:([^=\n][^=\n]*)?\n((?:\t.*\n?)*)`)
	toxCommands = lazyregexp.New(`(?ms)^\[testenv\]\s*$.*?^commands\s*=(.*?)(?:^\S|\z)`)
)

// withChecks appends to a list those commands that are checks.
func withChecks(list []string, prefix string, commands []string) []string {
	for _, c := range commands {
		c = strings.TrimLeft(strings.TrimSpace(c), "@-")
		if checks.MatchString(c) && !strings.ContainsAny(c, "$`{}") && !slices.Contains(list, prefix+c) {
			list = append(list, prefix+c)
		}
	}
	return list
}

// besideTests returns the checks that a project's own test command runs: `make test`, tox, Composer's script.
func (p *project) besideTests() (list []string) {
	add := func(prefix string, commands ...string) { list = withChecks(list, prefix, commands) }
	for _, m := range makeTest.FindAllStringSubmatch(p.text("Makefile"), -1) {
		add("make ", strings.Fields(m[1])...)
		add("", strings.Split(m[2], "\n")...)
	}
	for _, m := range toxCommands.FindAllStringSubmatch(p.text("tox.ini"), -1) {
		add("", strings.Split(m[1], "\n")...)
	}
	var composer struct {
		Scripts map[string]json.RawMessage `json:"scripts"`
	}
	_ = json.Unmarshal([]byte(p.text("composer.json")), &composer)
	for _, c := range quoted.FindAllString(strings.ReplaceAll(string(composer.Scripts["test"]), `\/`, "/"), -1) {
		if script, ok := strings.CutPrefix(strings.Trim(c, `"`), "@"); ok {
			add("composer run ", script)
		} else {
			add("", strings.Trim(c, `"`))
		}
	}
	return list
}
