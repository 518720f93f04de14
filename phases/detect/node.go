package detect

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/workflows"
)

// nodePackage has those parts of a package.json that matter here.
type nodePackage struct {
	*project
	Scripts         map[string]string `json:"scripts"`
	Dependencies    map[string]any    `json:"dependencies"`
	DevDependencies map[string]any    `json:"devDependencies"`
	Workspaces      json.RawMessage   `json:"workspaces"`
	PackageManager  string            `json:"packageManager"`

	steps []step // the commands that `npm test` runs
}

// step is one command of the test script, or of the scripts pretest and posttest, which npm runs before and after it.
type step struct {
	text   string
	tool   *nodeTool // the test runner that it starts; nil if none
	builds bool      // set if it builds the code that is tested
}

// nodeTool is a test runner for Node, with its options for reports.
type nodeTool struct {
	name, report string
	format       workflows.Format
	env          string
	drop         string // arguments of the test script that must be left out of a gate, with or without "=" and a value
	alone        bool   // set if a dependency on it is enough evidence, without a test script
}

const nodeGate = "node --test --test-reporter=junit"

// neverKept are arguments that must be left out of the gate of any test runner.
const neverKept = " --watch --watchAll -w --coverage --ui --bail --reporter --reporters -R "

// nodeTools are the test runners that report per-test results without an additional package. CI=true keeps them from
// writing missing snapshots.
var nodeTools = []nodeTool{
	{name: "node", format: workflows.FormatJUnit},
	{name: "bun", format: workflows.FormatJUnit},
	{name: "vitest", report: `--run --reporter=junit --outputFile="$WFS_REPORT"`, format: workflows.FormatJUnit,
		env: "CI=true ", drop: " run watch dev --run ", alone: true},
	{name: "react-scripts", report: `--watchAll=false --ci --json --outputFile="$WFS_REPORT"`,
		format: workflows.FormatJest, env: "CI=true "},
	{name: "jest", report: `--ci --json --outputFile="$WFS_REPORT"`, format: workflows.FormatJest, drop: " --ci ",
		alone: true},
	{name: "mocha", report: `--reporter xunit --reporter-option output="$WFS_REPORT"`, format: workflows.FormatJUnit,
		alone: true},
	{name: "ava", report: "--tap", format: workflows.FormatTAP, drop: " --tap ", alone: true},
	{name: "tape", format: workflows.FormatTAP},
	{name: "tap", report: "--reporter=tap", format: workflows.FormatTAP},
	{name: "playwright", report: "--reporter=junit", format: workflows.FormatJUnit},
}

// proposeNode proposes a gate for the test runner in the test script. If there is none, it looks for a test runner in
// the dependencies, then in the packages of a workspace. The last proposal is the test script itself, judged by its
// exit code.
func proposeNode(p *project) []Proposal {
	n := p.nodePackage()
	if n == nil {
		return nil
	}
	list := n.byTool()
	if len(list) == 0 {
		list = n.byWorkspaces()
	}
	manager, beyond := n.manager(), gatesOf(n.beyond())
	install := when(n.lacks != "", "npm install -g "+n.lacks+" && ") + n.declared() + " install"
	for i := range list {
		list[i].Beyond, list[i].Install = beyond, install
		if manager != "npm" {
			list[i].Tools = []string{manager}
		}
	}
	script := n.Scripts["test"]
	if script == "" || strings.Contains(script, "no test specified") {
		if len(list) == 0 && p.shows(nodeTests) != "" {
			return []Proposal{{Gate: testsGate(nodeGate, workflows.FormatJUnit), Why: "package.json and test files"}}
		}
		return list
	}
	needs := "its test script has no per-test results that wfs can read; `" + nodeGate +
		"`, vitest, jest and mocha have them"
	if len(list) > 0 { // they are tried first, so none of them could run
		needs = "the test script hides the per-test results; pass the command behind it, if one can run: " +
			"wfs init --force --test 'COMMAND' --format FORMAT"
	}
	return append(list, Proposal{Gate: testsGate(manager+" test", workflows.FormatExit),
		Why: "package.json: " + script, Needs: needs})
}

// nodeTests is evidence for files that `node --test` would run.
var nodeTests = inDirs([]string{"", "tests/", "__tests__/", "src/"}, []string{"*[._-]test.", "test.", "test-*."},
	"js") + "|" +
	inDirs([]string{"", "tests/", "__tests__/", "src/"}, []string{"*[._-]test.", "test.", "test-*."}, "[mc]js") +
	"|test/*.js|test/*.[mc]js"

func (p *project) nodePackage() *nodePackage {
	n := &nodePackage{project: p}
	if json.Unmarshal([]byte(p.text("package.json")), n) != nil {
		return nil
	}
	for _, script := range []string{"pretest", "test", "posttest"} {
		n.steps = append(n.steps, n.stepsOf(script, 0)...)
	}
	return n
}

var (
	commandEnd = lazyregexp.New(`&&|\|\||;`)
	runsScript = lazyregexp.New(`^(?:npm|pnpm|yarn) run (\S+)$`)
	nodeCall   = lazyregexp.New(`(?:^|\s)(?:node|tsx)\s.*`)
	nodeBuild  = lazyregexp.New(`^(?:\S*/)?(?:(?:tsc|babel|swc|tsup|esbuild|rollup|webpack)(?: |$)|vite build)|^\S+ run build`)
)

// stepsOf returns the commands of a script. If a command runs another script that runs tests, it is replaced by the
// commands of that script.
func (n *nodePackage) stepsOf(script string, depth int) (steps []step) {
	for _, text := range commandEnd.Split(n.Scripts[script], -1) {
		text, _, _ = strings.Cut(strings.TrimSpace(text), "|") // the rest only formats the output
		s := step{text: strings.TrimSpace(text)}
		if m := runsScript.FindStringSubmatch(s.text); m != nil && n.Scripts[m[1]] != "" {
			if depth > 5 {
				continue
			}
			inner := n.stepsOf(m[1], depth+1)
			if slices.ContainsFunc(inner, func(s step) bool { return s.tool != nil }) {
				steps = append(steps, inner...)
				continue
			}
			s.builds = len(inner) > 0 && !slices.ContainsFunc(inner, func(s step) bool { return !s.builds })
		} else if s.text == "" {
			continue
		}
		s.tool = toolOf(s.text)
		s.builds = s.builds || nodeBuild.MatchString(s.text) && !strings.Contains(s.text, "--noEmit")
		steps = append(steps, s)
	}
	return steps
}

// toolOf returns the test runner that a command starts; nil if there is none.
func toolOf(command string) *nodeTool {
	words := strings.Fields(command)
	for i := range nodeTools {
		t := &nodeTools[i]
		if !slices.ContainsFunc(words, t.isCalled) || t.name == "node" && !slices.Contains(words, "--test") ||
			t.name == "bun" && !strings.Contains(command, "bun test") {
			continue
		}
		return t
	}
	return nil
}

// isCalled reports whether a word of a command is the one that starts the tool.
func (t *nodeTool) isCalled(word string) bool {
	base := path.Base(strings.Trim(word, `"'`))
	return !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") &&
		(strings.TrimSuffix(strings.TrimSuffix(base, ".js"), ".mjs") == t.name || t.name == "node" && base == "tsx")
}

// nodeExec has the command with which each package manager runs an installed tool.
var nodeExec = map[string]string{"pnpm": "pnpm exec ", "yarn": "yarn run ", "bun": "bun run ",
	"npm": "npx --no-install "}

// manager returns the project's package manager, or npm if that one is not installed.
func (n *nodePackage) manager() string {
	if name := n.declared(); n.can(name) {
		return name
	}
	return "npm"
}

// declared returns the package manager that the project's files name.
func (n *nodePackage) declared() string {
	name, _, _ := strings.Cut(n.PackageManager, "@")
	switch {
	case nodeExec[name] != "":
		return name
	case n.has("pnpm-lock.yaml"):
		return "pnpm"
	case n.has("yarn.lock"):
		return "yarn"
	case n.has("bun.lock"), n.has("bun.lockb"):
		return "bun"
	}
	return "npm"
}

func (n *nodePackage) exec() string { return nodeExec[n.manager()] }

// withExec returns a command of a script as a shell can run it: a package manager finds programs in node_modules/.bin,
// and a shell does not. `known` are names of such programs that may not be installed yet.
func (n *nodePackage) withExec(command string, known ...string) string {
	at := 0
	for word := range strings.FieldsSeq(command) {
		at += strings.Index(command[at:], word)
		if strings.Contains(word, "=") { // NODE_ENV=test
			at += len(word)
			continue
		}
		if slices.Contains(known, word) || !strings.Contains(word, "/") && n.has("node_modules/.bin/"+word) {
			return command[:at] + n.exec() + command[at:]
		}
		break
	}
	return command
}

// byTool proposes a gate for the test runner in the test script. If there is no test script, it proposes one for a test
// runner among the dependencies.
func (n *nodePackage) byTool() []Proposal {
	why := "package.json: " + n.Scripts["test"]
	before := ""
	for _, s := range n.steps {
		switch {
		case s.builds && strings.Contains(s.text, " run "):
			before += s.text + " && "
		case s.builds:
			before += n.exec() + s.text + " && "
		case s.tool != nil:
			gate := testsGate(before+n.call(s.tool, s.text), s.tool.format)
			list := []Proposal{{Gate: gate, Why: why}}
			// Node before version 20 cannot write JUnit's XML.
			if tap := strings.Replace(gate.Run.Shell, "test-reporter=junit", "test-reporter=tap", 1); s.tool.name == "node" {
				list = append(list, Proposal{Gate: testsGate(tap, workflows.FormatTAP), Why: why})
			}
			return list
		}
	}
	if n.Scripts["test"] != "" {
		return nil
	}
	return n.byDependency()
}

// byDependency proposes a gate for a test runner among the dependencies.
func (n *nodePackage) byDependency() []Proposal {
	for i := range nodeTools {
		t := &nodeTools[i]
		if t.alone && (n.Dependencies[t.name] != nil || n.DevDependencies[t.name] != nil) {
			return []Proposal{{Gate: testsGate(n.call(t, t.name), t.format), Why: t.name + " in package.json"}}
		}
	}
	return nil
}

// call returns the command that runs a test runner and writes a report for wfs. It keeps the arguments that the test
// script has for the test runner.
func (n *nodePackage) call(t *nodeTool, text string) string {
	switch t.name {
	case "bun":
		return `bun test --reporter=junit --reporter-outfile="$WFS_REPORT"`
	case "node":
		if strings.Contains(text, "--test-reporter") {
			return nodeGate
		}
		text = strings.Replace(text, "--test", "--test --test-reporter=junit", 1)
		text = strings.TrimSpace(nodeCall.FindString(text)) // a coverage tool may come first
		if strings.HasPrefix(text, "tsx ") {
			return n.exec() + text
		}
		return text
	}
	kept := t.kept(strings.Fields(text))
	return t.env + strings.TrimSpace(n.withExec(strings.Join(kept, " "), t.name, "cross-env")+" "+t.report)
}

// kept returns the words of a test runner's command, without options that must be left out of a gate.
func (t *nodeTool) kept(words []string) (kept []string) {
	for i := 0; i < len(words); i++ {
		name, _, joined := strings.Cut(words[i], "=")
		if i == 0 || !strings.Contains(neverKept+t.drop, " "+name+" ") {
			kept = append(kept, words[i])
		} else if !joined && slices.Contains([]string{"--reporter", "--reporters", "-R"}, name) {
			i++
		}
	}
	return kept
}

// beyond returns those commands of the test script, and of pretest and posttest, that neither run tests nor build
// code. A test run that measures coverage is included.
func (n *nodePackage) beyond() (commands []string) {
	for _, s := range n.steps {
		text := n.withExec(s.text)
		if s.builds || s.tool != nil && (text == s.text || !slices.Contains(strings.Fields(text), "--coverage")) {
			continue
		}
		commands = append(commands, text)
	}
	return commands
}

// eachMember has the command that runs the tests of one package of a workspace, for each test runner. $d is the
// package's directory. "" stands for a test runner that can run all packages at once.
var eachMember = map[string]string{
	"vitest": `vitest --run --reporter=json --outputFile="$WFS_REPORT/$(echo $d | tr / -).json"`,
	"jest":   `jest --ci --passWithNoTests --json --outputFile="$WFS_REPORT/$(echo $d | tr / -).json"`,
	"node":   "",
}

// members returns the directories of the packages in a workspace that have tests, and the names of their test runners,
// each once.
func (n *nodePackage) members() (dirs, tools []string) {
	for _, dir := range n.workspaces() {
		m := (&project{root: filepath.Join(n.root, filepath.FromSlash(dir)), readFile: n.readFile}).nodePackage()
		if m == nil || m.Scripts["test"] == "" || strings.Contains(m.Scripts["test"], "no test specified") {
			continue
		}
		tool := ""
		for _, s := range m.steps {
			if s.tool != nil {
				tool = s.tool.name
			}
		}
		dirs = append(dirs, dir)
		if !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	return dirs, tools
}

// byWorkspaces proposes a gate for a workspace, which is a repository with several packages. All packages must use the
// same test runner. It runs in each package, and all reports go into one directory.
func (n *nodePackage) byWorkspaces() []Proposal {
	dirs, tools := n.members()
	if len(tools) != 1 {
		return nil
	}
	command, known := eachMember[tools[0]]
	t := nodeTools[max(0, slices.IndexFunc(nodeTools, func(t nodeTool) bool { return t.name == tools[0] }))]
	why := "workspaces with " + tools[0]
	switch {
	case !known:
		return nil
	case command == "":
		return []Proposal{{Gate: testsGate(n.buildAll()+nodeGate, workflows.FormatJUnit), Why: why}}
	}
	return []Proposal{{Gate: testsGate(n.buildAll()+`mkdir -p "$WFS_REPORT" && s=0; for d in `+strings.Join(dirs, " ")+
		`; do (cd $d && `+t.env+n.exec()+command+`) || s=1; done; exit $s`, workflows.FormatJest), Why: why}}
}

// buildAll returns the beginning of a command, which builds the packages that others in the workspace use. It returns
// "" unless the settings of turbo or nx say that tests need this.
func (n *nodePackage) buildAll() string {
	switch {
	case strings.Contains(n.text("turbo.json"), "^build"):
		return n.exec() + "turbo run build && "
	case strings.Contains(n.text("nx.json"), "^build"):
		return n.exec() + "nx run-many -t build && "
	}
	return ""
}

// workspaces returns the directories of the packages in a workspace, as package.json or pnpm-workspace.yaml list them.
func (n *nodePackage) workspaces() (dirs []string) {
	var globs []string
	var w struct{ Packages []string }
	_ = yaml.Unmarshal([]byte(n.text("pnpm-workspace.yaml")), &w)
	if json.Unmarshal(n.Workspaces, &globs) != nil {
		_ = json.Unmarshal(n.Workspaces, &w)
	}
	for _, glob := range append(globs, w.Packages...) {
		for _, file := range n.glob(path.Join(strings.ReplaceAll(glob, "**", "*"), "package.json")) {
			if dir := path.Dir(file); plainPath.MatchString(dir) && !strings.Contains(dir, "node_modules") {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
