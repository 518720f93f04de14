package detect

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// packageJSON is what matters of a package.json.
type packageJSON struct {
	Scripts         map[string]string `json:"scripts"`
	Dependencies    map[string]any    `json:"dependencies"`
	DevDependencies map[string]any    `json:"devDependencies"`
	Workspaces      json.RawMessage   `json:"workspaces"`
	PackageManager  string            `json:"packageManager"`
}

func (k *packageJSON) uses(name string) bool {
	_, dep := k.Dependencies[name]
	_, dev := k.DevDependencies[name]
	return dep || dev
}

const nodeGate = "node --test --test-reporter=junit"

// proposeNode knows Node's own runner, Vitest, Jest, Mocha, AVA, tape, Bun's and Playwright's. Every one of them reports
// by test without a package of its own. The exit code of the test script is the last resort.
func proposeNode(p *project) []Proposal {
	data, ok := p.read("package.json")
	if !ok {
		return nil
	}
	var k packageJSON
	if json.Unmarshal(data, &k) != nil {
		return nil
	}
	n := &nodePackage{project: p, k: &k, script: k.script("test", 0)}
	n.manager = n.packageManager()
	list := n.byTool()
	if len(list) == 0 {
		list = n.byWorkspaces()
	}
	for i := range list {
		list[i].Beyond = gatesOf(n.beyond())
		list[i].Install = n.manager + " install"
		if n.manager != "npm" {
			list[i].Tools = []string{n.manager}
		}
	}
	if n.script == "" || strings.Contains(n.script, "no test specified") {
		if len(list) == 0 && p.nodeTests() {
			return []Proposal{{Gate: testsGate(nodeGate, workflows.FormatJUnit), Why: "package.json and test files"}}
		}
		return list
	}
	needs := "its test script has no per-test results that wfs can read; `" + nodeGate + "`, vitest, jest and mocha have them"
	if len(list) > 0 {
		needs = "the test script hides the per-test results; this would show them: " + list[0].Gate.Run.Shell
	}
	return append(list, Proposal{Gate: testsGate(n.manager+" test", workflows.FormatExit), Why: "package.json: " + n.script, Needs: needs})
}

type nodePackage struct {
	*project
	k       *packageJSON
	script  string // what `npm test` runs
	manager string // npm, pnpm, yarn or bun
}

func (n *nodePackage) packageManager() string {
	name, _, _ := strings.Cut(n.k.PackageManager, "@")
	switch {
	case slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, name):
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

// exec is the command that runs a tool which the project has installed.
func (n *nodePackage) exec() string { return execOf(n.manager) }

func execOf(manager string) string {
	switch manager {
	case "pnpm":
		return "pnpm exec "
	case "yarn":
		return "yarn run "
	case "bun":
		return "bun run "
	}
	return "npx --no-install "
}

// nodeTool is a runner, what makes it report, and how it is called.
type nodeTool struct {
	name, report string
	format       workflows.Format
	drop         []string // arguments of the test script that a gate cannot have, with the value that may follow "="
	alone        bool     // it is used when package.json depends on it, also without a test script
}

func nodeTools() []nodeTool {
	watch := []string{"--watch", "--watchAll", "-w", "--coverage", "--ui", "--bail", "--reporter", "--reporters", "-R"}
	return []nodeTool{
		{name: "vitest", report: `--run --reporter=junit --outputFile="$WFS_REPORT"`, format: workflows.FormatJUnit, drop: append(watch, "run", "watch", "dev", "--run"), alone: true},
		{name: "react-scripts", report: `--watchAll=false --ci --json --outputFile="$WFS_REPORT"`, format: workflows.FormatJest, drop: watch},
		{name: "jest", report: `--ci --json --outputFile="$WFS_REPORT"`, format: workflows.FormatJest, drop: append(watch, "--ci"), alone: true},
		{name: "mocha", report: `--reporter xunit --reporter-option output="$WFS_REPORT"`, format: workflows.FormatJUnit, drop: watch, alone: true},
		{name: "ava", report: "--tap", format: workflows.FormatTAP, drop: append(watch, "--tap"), alone: true},
		{name: "tape", format: workflows.FormatTAP, drop: watch},
		{name: "tap", report: "--reporter=tap", format: workflows.FormatTAP, drop: watch},
		{name: "playwright", report: "--reporter=junit", format: workflows.FormatJUnit, drop: watch},
	}
}

// byTool proposes for the runner that the test script runs, else for one that the project depends on.
func (n *nodePackage) byTool() []Proposal {
	why := "package.json: " + n.script
	if command := n.nodesOwn(); command != "" {
		return []Proposal{
			{Gate: testsGate(command, workflows.FormatJUnit), Why: why},
			{Gate: testsGate(strings.Replace(command, "reporter=junit", "reporter=tap", 1), workflows.FormatTAP), Why: why}, // before Node 20
		}
	}
	if usesTool(n.script, "bun") && strings.Contains(n.script, "bun test") {
		return []Proposal{{Gate: testsGate(`bun test --reporter=junit --reporter-outfile="$WFS_REPORT"`, workflows.FormatJUnit), Why: why}}
	}
	for _, t := range nodeTools() {
		if part := n.commandWith(t.name); part != "" {
			return []Proposal{{Gate: testsGate(n.before()+n.call(t, part), t.format), Why: why}}
		}
	}
	if n.script != "" {
		return nil
	}
	for _, t := range nodeTools() {
		if t.alone && n.k.uses(t.name) {
			return []Proposal{{Gate: testsGate(n.call(t, t.name), t.format), Why: t.name + " in package.json"}}
		}
	}
	return nil
}

// commandWith is the command of the test script that runs a tool.
func (n *nodePackage) commandWith(tool string) string {
	for _, part := range commandsOf(n.script) {
		words := strings.Fields(part)
		for _, w := range words {
			if base := path.Base(strings.Trim(w, `"'`)); (base == tool || base == tool+".js" || base == tool+".mjs") && !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
				return strings.TrimSpace(part)
			}
		}
	}
	return ""
}

// call makes a tool's command report to wfs. The arguments that it has in the test script stay.
func (n *nodePackage) call(t nodeTool, part string) string {
	var words []string
	skip := false
	for i, w := range strings.Fields(part) {
		name, _, joined := strings.Cut(w, "=")
		switch {
		case skip:
			skip = false
		case i > 0 && slices.Contains(t.drop, name):
			skip = !joined && slices.Contains([]string{"--reporter", "--reporters", "-R"}, name)
		default:
			words = append(words, w)
		}
	}
	at := slices.IndexFunc(words, func(w string) bool { return !strings.Contains(w, "=") }) // behind NODE_ENV=test
	switch first := words[max(at, 0)]; {
	case first == t.name:
		words[at] = n.exec() + first
	case first == "cross-env":
		words[at] = n.exec() + first
	}
	text := strings.TrimSpace(strings.Join(words, " ") + " " + t.report)
	if t.name == "vitest" || t.name == "react-scripts" {
		text = "CI=true " + text // or it would write snapshots that are missing
	}
	return text
}

// before are the steps of the test script, and the one that npm runs before it, that build what is tested.
func (n *nodePackage) before() string {
	var steps []string
	for _, script := range []string{n.k.script("pretest", 0), n.script} {
		for part := range strings.SplitSeq(script, "&&") {
			part = strings.TrimSpace(part)
			words := strings.Fields(part)
			if len(words) == 0 || strings.ContainsAny(part, "|;&") {
				continue
			}
			switch tool := path.Base(words[0]); {
			case slices.Contains([]string{"tsc", "babel", "swc", "tsup", "esbuild", "rollup", "webpack"}, tool) && !strings.Contains(part, "--noEmit"),
				tool == "vite" && len(words) > 1 && words[1] == "build":
				steps = append(steps, n.exec()+part)
			case len(words) > 2 && words[1] == "run" && strings.HasPrefix(words[2], "build"):
				steps = append(steps, part)
			}
		}
	}
	if len(steps) == 0 {
		return ""
	}
	return strings.Join(steps, " && ") + " && "
}

// beyond are the commands of the test script, and of those that npm runs around it, that run no tests and build nothing.
func (n *nodePackage) beyond() []string {
	var out []string
	for _, name := range []string{"pretest", "test", "posttest"} {
		out = append(out, n.beside(n.k.Scripts[name], 0)...)
	}
	return out
}

// beside are the commands of a script beside those that run tests or build.
func (n *nodePackage) beside(script string, depth int) []string {
	var out []string
	steps := strings.Split(n.before(), " && ")
	built := func(c string) bool { return slices.Contains(steps, c) || slices.Contains(steps, n.exec()+c) }
	for _, part := range commandsOf(script) {
		part = strings.TrimSpace(part)
		inner := part
		for _, call := range npmCalls(part) {
			if text := n.k.script(call.script, 0); text != "" {
				inner = text
			}
		}
		tool, _, _ := strings.Cut(part, " ")
		switch {
		case part == "" || built(part) || built(inner):
		case inner == part && slices.Contains(strings.Fields(part), "--coverage") && n.has("node_modules/.bin/"+tool):
			out = append(out, n.exec()+part)
		case !n.runsTests(inner) && n.has("node_modules/.bin/"+tool):
			out = append(out, n.exec()+part)
		case !n.runsTests(inner):
			out = append(out, part)
		case inner != part && depth < 5:
			out = append(out, n.beside(n.k.Scripts[npmCalls(part)[0].script], depth+1)...)
		}
	}
	return out
}

// runsTests reports whether a script runs one of the runners that are known.
func (n *nodePackage) runsTests(script string) bool {
	other := nodePackage{project: n.project, k: n.k, script: script, manager: n.manager}
	return other.nodesOwn() != "" || strings.Contains(script, "bun test") ||
		slices.ContainsFunc(nodeTools(), func(t nodeTool) bool { return other.commandWith(t.name) != "" })
}

// nodesOwn is the test script's `node --test`, with a reporter.
func (n *nodePackage) nodesOwn() string {
	for _, part := range commandsOf(n.script) {
		words := strings.Fields(part)
		if slices.Contains(words, "--test") && (slices.Contains(words, "node") || slices.Contains(words, "tsx")) {
			command := nodeCommandOf(part)
			if i := slices.Index(words, "tsx"); i >= 0 && !slices.Contains(words[:i], "--import") && !slices.Contains(words[:i], "node") {
				_, rest, _ := strings.Cut(" "+strings.TrimSpace(part), " tsx ")
				command = strings.Replace(n.exec()+"tsx "+rest, "--test", "--test --test-reporter=junit", 1)
			}
			return n.before() + command
		}
	}
	return ""
}

// byWorkspaces proposes for a repository of many packages. Where all of them use the same runner, each is run with it and
// reports into a directory.
func (n *nodePackage) byWorkspaces() []Proposal {
	var dirs, tools []string
	for _, dir := range n.workspaces() {
		member := &project{root: filepath.Join(n.root, filepath.FromSlash(dir)), readFile: n.readFile}
		var k packageJSON
		if data, ok := member.read("package.json"); !ok || json.Unmarshal(data, &k) != nil {
			continue
		}
		m := &nodePackage{project: member, k: &k, script: k.script("test", 0), manager: n.manager}
		tool := ""
		for _, name := range []string{"vitest", "jest", "node"} {
			if name == "node" && m.nodesOwn() != "" || name != "node" && m.commandWith(name) != "" {
				tool = name
			}
		}
		if tool == "" && (m.script == "" || strings.Contains(m.script, "no test specified")) {
			continue
		}
		dirs = append(dirs, dir)
		if !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	if len(dirs) == 0 || len(tools) != 1 {
		return nil
	}
	why := "workspaces with " + tools[0]
	each := func(command string) string {
		return n.buildAll() + `mkdir -p "$WFS_REPORT" && s=0; for d in ` + strings.Join(dirs, " ") + `; do (cd $d && ` + command + `) || s=1; done; exit $s`
	}
	const report = `--outputFile="$WFS_REPORT/$(echo $d | tr / -).json"`
	switch tools[0] {
	case "vitest":
		return []Proposal{{Gate: testsGate(each("CI=true "+n.exec()+"vitest --run --reporter=json "+report), workflows.FormatJest), Why: why}}
	case "jest":
		return []Proposal{{Gate: testsGate(each(n.exec()+"jest --ci --passWithNoTests --json "+report), workflows.FormatJest), Why: why}}
	case "node":
		return []Proposal{{Gate: testsGate(n.buildAll()+nodeGate, workflows.FormatJUnit), Why: why}}
	}
	return nil
}

// buildAll builds the packages that others of the workspace use, where turbo or nx says that tests need it.
func (n *nodePackage) buildAll() string {
	switch {
	case strings.Contains(n.text("turbo.json"), "^build"):
		return n.exec() + "turbo run build && "
	case strings.Contains(n.text("nx.json"), "^build"):
		return n.exec() + "nx run-many -t build && "
	}
	return ""
}

// workspaces lists the member directories of a workspace, as package.json or pnpm-workspace.yaml name them.
func (n *nodePackage) workspaces() []string {
	var globs []string
	if json.Unmarshal(n.k.Workspaces, &globs) != nil {
		var w struct {
			Packages []string `json:"packages"`
		}
		_ = json.Unmarshal(n.k.Workspaces, &w)
		globs = w.Packages
	}
	inList := false
	for line := range strings.Lines(n.text("pnpm-workspace.yaml")) {
		item, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		switch {
		case strings.HasPrefix(line, "packages:"):
			inList = true
		case inList && ok:
			globs = append(globs, strings.Trim(item, `"' `))
		case strings.TrimSpace(line) != "":
			inList = false
		}
	}
	var dirs []string
	for _, glob := range globs {
		if strings.HasPrefix(glob, "!") {
			continue
		}
		glob = strings.TrimPrefix(strings.ReplaceAll(glob, "**", "*"), "./")
		found, _ := filepath.Glob(filepath.Join(n.root, filepath.FromSlash(glob), "package.json"))
		for _, name := range found {
			rel, err := filepath.Rel(n.root, filepath.Dir(name))
			if dir := filepath.ToSlash(rel); err == nil && plainPath(dir) && !strings.Contains(dir, "node_modules") && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs)
	return dirs
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
