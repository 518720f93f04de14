package workflows

import (
	"cmp"
	"reflect"
	"testing"
	"time"
)

func TestParseConfig(t *testing.T) {
	t.Parallel()
	got, findings := ParseConfig("config.yaml", []byte(`version: 1
workflow: tdd
agent: {command: "claude -p", idle: 5m, timeout: 1h30m}
agree: auto
env: [OPENAI_API_KEY, Path_2]
gates:
  tests: {run: [go, test, -json, ./...], format: go-test-json, timeout: 20m}
  web:
    run: npx jest
    format: junit
    report: "build/*.xml"
    where: in-place
    may-change-tree: true
worktree: {dir: "../{repo}.{slug}", copy: [.env, vendor/bundle/], link: [node_modules], setup: npm ci}
`))
	want := &Config{
		Version: 1, Workflow: "tdd", Agree: AgreeAuto, Env: []string{"OPENAI_API_KEY", "Path_2"},
		Agent:    Agent{Command: Command{Shell: "claude -p"}, Idle: 5 * time.Minute, Timeout: 90 * time.Minute},
		Worktree: Worktree{Dir: "../{repo}.{slug}", Copy: []string{".env", "vendor/bundle"}, Link: []string{"node_modules"}, Setup: Command{Shell: "npm ci"}, Timeout: DefaultWorktreeTimeout},
		Gates: map[string]Gate{
			"tests": {Name: "tests", Run: Command{Argv: []string{"go", "test", "-json", "./..."}}, Format: FormatGoTest, Where: Auto, Timeout: 20 * time.Minute},
			"web":   {Name: "web", Run: Command{Shell: "npx jest"}, Format: FormatJUnit, Report: "build/*.xml", Where: InPlace, Timeout: DefaultGateTimeout, MayChangeTree: true},
		},
	}
	if len(findings) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n got %+v\nwant %+v", findings, got, want)
	}
}

func TestParseConfigAgents(t *testing.T) {
	t.Parallel()
	const idle, total = DefaultAgentIdle, DefaultAgentTimeout
	for text, want := range map[string]Agent{
		"":                         {Idle: idle, Timeout: total},
		"agent: make it so":        {Command: Command{Shell: "make it so"}, Idle: idle, Timeout: total},
		"agent: [codex, exec]":     {Command: Command{Argv: []string{"codex", "exec"}}, Idle: idle, Timeout: total},
		"agent: exec claude":       {Command: Command{Shell: "exec claude"}, Idle: idle, Timeout: total},
		"agent: {command: claude}": {Command: Command{Shell: "claude"}, Idle: idle, Timeout: total},
		"agent: claude":            {Use: "claude", Card: BuiltinCards()["claude"], Idle: idle, Timeout: total},
		"agent: {use: claude, model: opus, allow: [Edit], args: [-x], conversation: fresh}": {Use: "claude", Card: BuiltinCards()["claude"],
			Model: "opus", Allow: []string{"Edit"}, Args: []string{"-x"}, Fresh: true, Idle: idle, Timeout: total},
		"agent: {script: play.yaml}":         {ScriptPath: "play.yaml", Idle: idle, Timeout: total},
		"agent: {command: [a], timeout: 1m}": {Command: Command{Argv: []string{"a"}}, Idle: idle, Timeout: time.Minute},
	} {
		c, findings := ParseConfig("config.yaml", []byte("version: 1\n"+text))
		if len(findings) > 0 || !reflect.DeepEqual(c.Agent, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", text, findings, c, want)
		}
	}
}

func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	mistakes{
		{"unknown key", "workflow: tdd", "workflows: tdd", `c.yaml:2: unknown key "workflows" (did you mean "workflow"?)`},
		{"workflow", "workflow: tdd", "workflow: a/b", `c.yaml:2: workflow "a/b" may hold letters, digits, - and _ only`},
		{"agree", "workflow: tdd", "agree: Auto", `c.yaml:2: agree must be one of person, auto, not "Auto" | did you mean auto?`},
		{"agent without anything", "workflow: tdd", "agent: {}", "c.yaml:2: agent is empty | leave it out, or say what it is"},
		{"script elsewhere", "workflow: tdd", "agent: {script: ../play.yaml}",
			`c.yaml:2: agent: script "../play.yaml" leads out of the work tree, where a repository may not point | set it in .wfs/local.yaml, which is this clone's own`},
		{"agent with both", "workflow: tdd", "agent: {command: a, script: b}",
			"c.yaml:2: agent has both command and script: choose one | use: names an agent that wfs knows how to start; a command is the whole command line of any other"},
		{"use and a command", "workflow: tdd", "agent: {use: claude, command: b}",
			"c.yaml:2: agent has both use and command: choose one | use: names an agent that wfs knows how to start; a command is the whole command line of any other"},
		{"unknown agent", "workflow: tdd", "agent: {use: cluade}", `c.yaml:2: agent: use: there is no agent "cluade" (did you mean "claude"?) | wfs agent list`},
		{"model of no agent", "workflow: tdd", "agent: {command: a, model: b}",
			"c.yaml:2: agent: model is in the words of one agent, and goes with use | write use: NAME beside it; a command has it among its own words"},
		{"a setting that a card has not", "workflow: tdd", "agent: {use: codex, allow: [x]}",
			"c.yaml:2: agent: allow: the agent codex has no such setting"},
		{"agents", "workflow: tdd", "agents: {reviewer: {use: codx}}", `c.yaml:2: agent reviewer: use: there is no agent "codx" (did you mean "codex"?) | wfs agent list`},
		{"a script among agents", "workflow: tdd", "agents: {a: {script: b}}", "c.yaml:2: agent a: a script can only be the session's agent"},
		{"empty agent", "workflow: tdd", "agent:",
			"c.yaml:2: agent: command must be a command: text for the shell, or a list of arguments, not empty"},
		{"env", "workflow: tdd", "env:\n  - A=b\n  - 1A\n  - WFS_RESULT\n  - A\n  - A\n  - 7",
			`c.yaml:3: env takes names, not values: "A" | the value is taken from the environment that wfs is started in
c.yaml:4: env: "1A" is not a variable name
c.yaml:5: env: "WFS_RESULT" belongs to wfs, which sets it by itself
c.yaml:7: env: "A" is duplicated
c.yaml:8: env must be text, not 7 | put it in quotes: "7"`},
		{"directory without the name", "workflow: tdd", "worktree: {dir: ../trees}",
			`c.yaml:2: worktree: dir "../trees" must hold {slug}, the session's name: each session has a work tree of its own`},
		{"directory with another name", "workflow: tdd", `worktree: {dir: "../{branch}-{slug}"}`,
			`c.yaml:2: worktree: dir "../{branch}-{slug}" may hold {repo} and {slug}, and no other {…}`},
		{"directory of the shell's", "workflow: tdd", `worktree: {dir: "~/{slug}"}`,
			`c.yaml:2: worktree: dir "~/{slug}" may not begin with ~: it is relative to the main work tree, or absolute`},
		{"copies", "workflow: tdd", "worktree:\n  copy:\n    - ../.env\n    - /etc/passwd\n    - '!.env'\n    - .git/config\n    - 'a/**b'",
			`c.yaml:4: worktree: copy: pattern "../.env" may not hold empty, . or .. directories
c.yaml:5: worktree: copy: pattern "/etc/passwd" must be relative to the top of the work tree, without a leading /
c.yaml:6: worktree: copy: pattern "!.env" cannot be negated
c.yaml:7: worktree: copy: pattern ".git/config" is git's own
c.yaml:8: worktree: copy: pattern "a/**b" may hold ** only as a whole directory: a/**/b`},
		{"links", "workflow: tdd", "worktree:\n  link:\n    - 'node_modules/*'\n    - ../x\n    - .GIT",
			`c.yaml:4: worktree: link "node_modules/*" is a path, not a pattern
c.yaml:5: worktree: link "../x" may not hold empty, . or .. directories
c.yaml:6: worktree: link ".GIT" is git's own`},
		{"gates is a list", "gates:\n  tests: {run: make test}", "gates: [tests]", "c.yaml:3: gates must be a mapping of names to values, not a list"},
		{"gate is text", "{run: make test}", "make test", `c.yaml:4: gate tests must be a mapping (key: value), not "make test"`},
		{"gate without run", "{run: make test}", "{}", `c.yaml:4: gate tests has nothing to run | run: the command that judges, for example "go test ./..."`},
		{"gate name", "  tests:", "  my tests:", `c.yaml:4: gates: "my tests" may hold letters, digits, - and _ only`},
		{"gates alike", "  tests:", "  Tests: {run: a}\n  tests:", "c.yaml:5: gate tests differs in nothing but capital letters from Tests in c.yaml | give it another name, or write Tests"},
		{"gate twice", "  tests:", "  tests: {run: a}\n  tests:", `c.yaml:5: gates: duplicate key "tests" (first in line 4)`},
		{"expect", "{run: make test}", "{run: make test, expect: red}", "c.yaml:4: gate tests: expect belongs where a phase uses the gate"},
		{"several at once", "{run: make test}", "{ruin: make test, timeout: 5, where: clean}",
			`c.yaml:4: gate tests: unknown key "ruin" (did you mean "run"?)
c.yaml:4: gate tests: timeout needs a unit: 5s or 5m?
c.yaml:4: gate tests has nothing to run | run: the command that judges, for example "go test ./..."`},
	}.check(t, "version: 1\nworkflow: tdd\ngates:\n  tests: {run: make test}\n", func(text string) []Finding {
		c, findings := ParseConfig("c.yaml", []byte(text))
		if (c == nil) != (len(findings) > 0) {
			t.Errorf("%d findings, and the configuration is %v", len(findings), c)
		}
		return findings
	})
}

func TestRenderConfig(t *testing.T) {
	t.Parallel()
	gates := []Gate{
		{Name: "tests", Run: Command{Shell: "go test -json ./..."}, Format: FormatGoTest},
		{Name: "tests", Run: Command{Shell: `pytest --junitxml="$WFS_REPORT"`}, Format: FormatJUnit, Timeout: time.Hour},
		{Name: "t", Run: Command{Shell: `sh -c 'echo "it''s" # no comment'`}, Format: FormatExit, MayChangeTree: true},
		{Name: "t", Run: Command{Shell: "true"}, Format: FormatExit, Timeout: 90 * time.Second},
		{Name: "t", Run: Command{Shell: "a: b"}, Format: FormatJUnit, Report: "build/**/*.xml"},
		{Name: "t", Run: Command{Argv: []string{"make", "", "a b", "yes", "12", "-k", "ü\u00a0\u202e\U0001f600"}}, Format: FormatExit},
		{Name: "t", Run: Command{Shell: "cd x\nmake"}, Format: FormatExit, Paths: []string{"/a b/", "*.go"}, When: WhenLap},
	}
	agents := []Agent{
		{},
		{Command: Command{Shell: "claude -p --allowedTools 'Bash(go test:*)'"}, Idle: time.Minute},
		{ScriptPath: "demo/play.yaml"},
		{Timeout: time.Minute},
		{Fresh: true},
		{Use: "claude", Card: BuiltinCards()["claude"], Model: "opus", Allow: []string{"Bash(go test:*)", "it's: a"}, Args: []string{"--x", "a: b\n"}, Fresh: true},
	}
	for _, g := range gates {
		for _, a := range agents {
			p := Proposal{Workflow: "tdd", Gates: []ProposedGate{{g, "42 tests\npassed\x1b[0m\r\nversion: 7"}}}
			if g.Format == FormatExit {
				p.Workflow = "loop"
				p.Worktree = Worktree{Copy: []string{".env", "a b"}, Setup: Command{Shell: "npm ci && x: y"}}
			}
			text := RenderConfig(p)
			got, findings := ParseConfig("config.yaml", text)
			local, more := ParseConfig("local.yaml", RenderLocal(a))
			findings = append(findings, more...)
			if len(findings) > 0 {
				t.Errorf("%v\n%s", findings, text)
				continue
			}
			want := &Config{Version: 1, Workflow: p.Workflow, Gates: map[string]Gate{}}
			a.Idle, a.Timeout = cmp.Or(a.Idle, DefaultAgentIdle), cmp.Or(a.Timeout, DefaultAgentTimeout)
			if !reflect.DeepEqual(local.Agent, a) {
				t.Errorf("got %+v\nwant %+v", local.Agent, a)
			}
			want.Agent.Idle, want.Agent.Timeout = DefaultAgentIdle, DefaultAgentTimeout
			want.Worktree = p.Worktree
			want.Worktree.Dir, want.Worktree.Timeout = DefaultWorktreeDir, DefaultWorktreeTimeout
			g := g
			g.Where, g.Timeout = Auto, cmp.Or(g.Timeout, DefaultGateTimeout)
			want.Gates[g.Name] = g
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s\n got %+v\nwant %+v", text, got, want)
			}
		}
	}
}

func TestRenderConfigText(t *testing.T) {
	t.Parallel()
	got := string(RenderConfig(Proposal{
		Workflow: "tdd",
		Gates:    []ProposedGate{{Gate{Name: "tests", Run: Command{Shell: "go test -json ./..."}, Format: FormatGoTest}, "42 tests passed in 3.1 s"}},
	}))
	const want = `# How wfs judges this project. Yours to edit, and meant to be committed. What is yours alone goes into .wfs/local.yaml.
# A session keeps the settings that it was born with; changes here are for new sessions.
version: 1

# The workflow of ` + "`wfs new`" + ` when no other is named.
workflow: tdd

# Who works in the phases is each person's own: .wfs/local.yaml, or ~/.config/wfs/config.yaml for all repositories.
# agent: claude

# Variables that agents and gates may see besides the usual ones (PATH, HOME, LANG, …). Names only.
# env: [OPENAI_API_KEY]

# Gates are commands that wfs runs itself. What they say decides, not what the agent says.
gates:
  # ` + "`wfs init`" + ` ran this one: 42 tests passed in 3.1 s
  tests:
    run: go test -json ./...
    format: go-test-json
    timeout: 10m
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
}
