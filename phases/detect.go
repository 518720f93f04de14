package phases

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// Proposal is a gate that may fit a project.
type Proposal struct {
	Gate  workflows.Gate
	Why   string // what in the project speaks for it
	Needs string // what is missing for results by test, without which `expect: red` cannot work; "" when nothing is
}

// project is what the proposals look at.
type project struct {
	root     string
	readFile func(name string) ([]byte, error)
}

// ecosystems are asked in this order; the first proposal is the one to try first.
var ecosystems = []func(*project) []Proposal{proposeGo, proposeNode, proposePython, proposeCargo, proposeMake}

// Propose looks at the project at root and proposes gates for its tests, the likeliest first; none when it recognises
// nothing. readFile is os.ReadFile.
func Propose(root string, readFile func(name string) ([]byte, error)) []Proposal {
	p := &project{root: root, readFile: readFile}
	var all []Proposal
	for _, propose := range ecosystems {
		all = append(all, propose(p)...)
	}
	return all
}

func testsGate(command string, format workflows.Format) workflows.Gate {
	return workflows.Gate{Name: "tests", Run: workflows.Command{Shell: command}, Format: format, Where: workflows.InPlace, Timeout: workflows.DefaultGateTimeout}
}

func (p *project) read(name string) ([]byte, bool) {
	data, err := p.readFile(filepath.Join(p.root, filepath.FromSlash(name)))
	return data, err == nil
}

// list names the files in a directory.
func (p *project) list(dir string) []string {
	entries, _ := os.ReadDir(filepath.Join(p.root, dir))
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func (p *project) has(name string) bool {
	_, ok := p.read(name)
	return ok
}

func (p *project) text(name string) string {
	data, _ := p.read(name)
	return string(data)
}

func proposeGo(p *project) []Proposal {
	switch {
	case p.has("go.work"):
		var dirs []string
		for _, dir := range workspaceDirs(p.text("go.work")) {
			dirs = append(dirs, "./"+path.Join(dir, "..."))
		}
		if len(dirs) == 0 {
			dirs = []string{"./..."}
		}
		return []Proposal{{Gate: testsGate("go test -json "+strings.Join(dirs, " "), workflows.FormatGoTest), Why: "go.work"}}
	case p.has("go.mod"):
		return []Proposal{{Gate: testsGate("go test -json ./...", workflows.FormatGoTest), Why: "go.mod"}}
	}
	return nil
}

// workspaceDirs reads the use directives of a go.work file.
func workspaceDirs(text string) []string {
	var dirs []string
	block := false
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case block && words[0] == ")":
			block = false
		case block:
			dirs = append(dirs, strings.Trim(words[0], `"`))
		case words[0] == "use" && len(words) > 1 && words[1] == "(":
			block = true
		case words[0] == "use" && len(words) > 1:
			dirs = append(dirs, strings.Trim(words[1], `"`))
		}
	}
	return slices.DeleteFunc(dirs, func(d string) bool {
		return strings.HasPrefix(d, "..") || strings.ContainsAny(d, " '\"$`;&|<>()\\")
	})
}

// packageJSON is what matters of a package.json.
type packageJSON struct {
	Scripts         map[string]string `json:"scripts"`
	Dependencies    map[string]any    `json:"dependencies"`
	DevDependencies map[string]any    `json:"devDependencies"`
}

func (k *packageJSON) uses(name string) bool {
	_, dep := k.Dependencies[name]
	_, dev := k.DevDependencies[name]
	return dep || dev
}

const nodeGate = "node --test --test-reporter=junit"

func proposeNode(p *project) []Proposal {
	data, ok := p.read("package.json")
	if !ok {
		return nil
	}
	var k packageJSON
	if json.Unmarshal(data, &k) != nil {
		return nil
	}
	script := k.script("test", 0)
	byExit := func(needs string) []Proposal {
		return []Proposal{{Gate: testsGate("npm test", workflows.FormatExit), Why: "package.json: " + script, Needs: needs}}
	}
	switch {
	case usesTool(script, "node") && strings.Contains(script, " --test"):
		return []Proposal{{Gate: testsGate(nodeCommandOf(script), workflows.FormatJUnit), Why: "package.json: " + script}}
	case usesTool(script, "vitest") || script == "" && k.uses("vitest"):
		return []Proposal{{Gate: testsGate(`npx --no-install vitest run --reporter=junit --outputFile="$WFS_REPORT"`, workflows.FormatJUnit), Why: "vitest"}}
	case usesTool(script, "jest") || script == "" && k.uses("jest"):
		if !k.uses("jest-junit") {
			return byExit("install jest-junit (npm install --save-dev jest-junit) for results by test")
		}
		g := testsGate(`JEST_JUNIT_OUTPUT_FILE="$WFS_REPORT" JEST_JUNIT_CLASSNAME="{filepath}" JEST_JUNIT_TITLE="{classname} > {title}" JEST_JUNIT_REPORT_TEST_SUITE_ERRORS=true npx --no-install jest --ci --reporters=default --reporters=jest-junit`, workflows.FormatJUnit)
		return []Proposal{{Gate: g, Why: "jest with jest-junit"}}
	case usesTool(script, "mocha") || script == "" && k.uses("mocha"):
		if !k.uses("mocha-junit-reporter") {
			return byExit("install mocha-junit-reporter (npm install --save-dev mocha-junit-reporter) for results by test")
		}
		return []Proposal{{Gate: testsGate(`MOCHA_FILE="$WFS_REPORT" npx --no-install mocha --reporter mocha-junit-reporter`, workflows.FormatJUnit), Why: "mocha with mocha-junit-reporter"}}
	case script == "" || strings.Contains(script, "no test specified"):
		if p.nodeTests() {
			return []Proposal{{Gate: testsGate(nodeGate, workflows.FormatJUnit), Why: "package.json and test files"}}
		}
		return nil
	}
	return byExit("its test script has no results by test that wfs can read; `" + nodeGate + "` would")
}

// script is what a script of package.json runs: where it runs another one, that one's text stands instead.
func (k *packageJSON) script(name string, depth int) string {
	text := k.Scripts[name]
	for _, call := range npmCalls(text) {
		if inner := k.Scripts[call.script]; inner != "" && depth < 5 {
			text = strings.Replace(text, call.text, k.script(call.script, depth+1), 1)
		}
	}
	return text
}

type npmCall struct{ text, script string }

// npmCalls finds `npm run NAME` and the like. A call with arguments of its own is left alone.
func npmCalls(text string) []npmCall {
	var calls []npmCall
	for _, part := range commandsOf(text) {
		switch w := strings.Fields(part); {
		case len(w) == 3 && slices.Contains([]string{"npm", "pnpm", "yarn"}, w[0]) && w[1] == "run":
			calls = append(calls, npmCall{strings.TrimSpace(part), w[2]})
		}
	}
	return calls
}

// commandsOf splits a shell command where another one begins.
func commandsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("&|;", r) })
}

// nodeCommandOf takes the command that runs Node's own runner from a test script, without a coverage tool in front,
// and adds the reporter.
func nodeCommandOf(script string) string {
	if strings.Contains(script, "--test-reporter") {
		return nodeGate
	}
	for _, part := range commandsOf(script) {
		words := strings.Fields(part)
		if i := slices.Index(words, "node"); i >= 0 && slices.Contains(words[i:], "--test") {
			_, rest, _ := strings.Cut(" "+strings.TrimSpace(part), " node ")
			return strings.Replace("node "+rest, "--test", "--test --test-reporter=junit", 1)
		}
	}
	return nodeGate
}

// usesTool reports whether a shell command runs a tool, as one of its words.
func usesTool(script, tool string) bool {
	return slices.Contains(strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(" \t&|;()/", r) }), tool)
}

// nodeTests reports whether there is a file that `node --test` would find.
func (p *project) nodeTests() bool {
	for _, dir := range []string{"", "test", "tests", "__tests__", "src"} {
		for _, name := range p.list(dir) {
			base := strings.TrimSuffix(name, path.Ext(name))
			switch path.Ext(name) {
			case ".js", ".mjs", ".cjs":
				if dir == "test" || base == "test" || strings.HasPrefix(base, "test-") ||
					strings.HasSuffix(base, ".test") || strings.HasSuffix(base, "-test") || strings.HasSuffix(base, "_test") {
					return true
				}
			}
		}
	}
	return false
}

func proposePython(p *project) []Proposal {
	why := ""
	switch {
	case p.has("pytest.ini"):
		why = "pytest.ini"
	case strings.Contains(p.text("pyproject.toml"), "pytest"):
		why = "pytest in pyproject.toml"
	case strings.Contains(p.text("setup.cfg"), "[tool:pytest]"), strings.Contains(p.text("tox.ini"), "pytest"):
		why = "pytest in setup.cfg or tox.ini"
	case p.has("conftest.py"), p.has("tests/conftest.py"):
		why = "conftest.py"
	case p.pythonTests():
		why = "Python test files"
	default:
		return nil
	}
	// One that cannot be imported must not keep the others from running: --continue-on-collection-errors.
	return []Proposal{{Gate: testsGate(`python3 -m pytest -q --continue-on-collection-errors --junitxml="$WFS_REPORT"`, workflows.FormatJUnit), Why: why}}
}

func (p *project) pythonTests() bool {
	for _, dir := range []string{"", "tests", "test"} {
		for _, name := range p.list(dir) {
			if strings.HasSuffix(name, ".py") && (strings.HasPrefix(name, "test_") || strings.HasSuffix(name, "_test.py")) {
				return true
			}
		}
	}
	return false
}

func proposeCargo(p *project) []Proposal {
	if !p.has("Cargo.toml") {
		return nil
	}
	return []Proposal{{Gate: testsGate("cargo test", workflows.FormatExit), Why: "Cargo.toml",
		Needs: "cargo test has no results by test that wfs can read; cargo-nextest can write JUnit"}}
}

func proposeMake(p *project) []Proposal {
	for _, name := range []string{"Makefile", "makefile", "GNUmakefile"} {
		for line := range strings.Lines(p.text(name)) {
			if strings.HasPrefix(line, "test:") && !strings.HasPrefix(line, "test:=") {
				return []Proposal{{Gate: testsGate("make test", workflows.FormatExit), Why: name + " has a target `test`",
					Needs: "an exit code does not tell tests apart"}}
			}
		}
	}
	return nil
}
