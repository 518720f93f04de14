package detect

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/workflows"
)

// gatesOf returns gates for commands that are judged by their exit code.
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

// launchers are words at the beginning of a command that run another command. A gate gets its name from that other
// command.
var launchers = strings.Fields("npx npm pnpm yarn bun exec run composer make uv poetry python python3 go")

// commandName returns a name for a command: the script that it runs, or its tool.
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
	// checks matches commands that check the code without running tests, such as linters.
	checks = lazyregexp.New(`(^|[\s/:@-])(lint|vet|eslint|golangci-lint|staticcheck|gofmt|ruff|flake8|mypy|pyright|pylint|` +
		`black|isort|phpstan|psalm|phpcs|rubocop|clippy|tsc|typecheck|type-check|types|style|format-check|check-format|fmt-check)($|[\s:])`)
	quoted      = lazyregexp.New(`"[^"]*"|'[^']*'`)
	makeTest    = lazyregexp.New(`(?m)^test:([^=\n][^=\n]*)?\n((?:\t.*\n?)*)`)
	toxCommands = lazyregexp.New(`(?ms)^\[testenv\]\s*$.*?^commands\s*=(.*?)(?:^\S|\z)`)
)

// withChecks returns list with those commands added that are checks. `prefix` is put before each of them.
func withChecks(list []string, prefix string, commands []string) []string {
	for _, c := range commands {
		c = strings.TrimLeft(strings.TrimSpace(c), "@-")
		if checks.MatchString(c) && !strings.ContainsAny(c, "$`{}") && !slices.Contains(list, prefix+c) {
			list = append(list, prefix+c)
		}
	}
	return list
}

// besideTests returns the checks that the project's test command runs in addition to its tests. It reads `make test`,
// tox and the test script of Composer.
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
