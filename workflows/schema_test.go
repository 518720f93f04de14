package workflows

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// kindsOfFiles are the kinds of files, with the check of each.
var kindsOfFiles = []struct {
	file   string
	object *object
	schema func() []byte
	parse  func(text []byte) []Finding
	// examples have every key of the table. There is one for each alternative of an object.
	examples []string
}{
	{
		ConfigSchemaFile, objects().config, ConfigSchema,
		func(text []byte) []Finding {
			_, f := ReadLayers(Layer{Source: FromLocal, Name: "f", Text: text})
			return f
		},
		[]string{`version: 1
workflow: tdd
agent: {command: [claude, -p], idle: 5m, timeout: 1h30m}
agree: auto
phase-agents: {RED: codex}
autonomy: cautious
complexity: complex
refactor: auto
env: [OPENAI_API_KEY]
on-event: notify-send wfs "$WFS_SUMMARY"
max-file-size: 25MB
max-new-files: 5000
auto-save: {time: 1m, calls: 10, files: off}
clean-proof: on
clean-provide: [.env.test, "data/**"]
holdout: {gate: tests, reveal: names}
finish: {report: full}
gates:
  tests: {run: npx jest, format: junit, report: "build/*.xml", timeout: 20m, where: clean, stable: 3, paths: ["/web/", "*.js"], when: finish, may-change-tree: false, numbers: {coverage: 'coverage: ([0-9.]+)'}}
budget: {session: {usd: 12.5, tokens: 100000, turns: 40, attempts: 9, time: 2h}, phase: {usd: 3}, day: {usd: 50}}
limits: {calls-per-hour: 60}
worktree: {dir: "../{repo}.{slug}", copy: [.env, "config/*.local"], link: [node_modules], setup: npm ci, timeout: 5m}
`, "version: 1\nagent: {script: play.yaml}\n", "version: 1\nagent: claude\n", `version: 1
agent: {use: claude, model: opus, allow: ["Bash(go test:*)"], args: [--verbose], conversation: fresh, push: allowed, on-limit: {agent: codex}}
agents: {reviewer: {use: claude, model: haiku}, other: my-agent, third: {command: x}}
`, "version: 1\nagent: claude -p\n", "version: 1\nagent: {idle: 5m}\nauto-save: off\n"},
	},
	{
		WorkflowSchemaFile, objects().workflow, WorkflowSchema,
		func(text []byte) []Finding { _, f := ParseWorkflow("f", text); return f },
		[]string{`version: 1
name: all
description: every key
start: WORK
laps: {first: WORK, then: AFTER, agree: auto, max: 3}
tamper: warn
refactor: always
phases:
  WORK:
    brief: do it
    run: agent
    gates:
      - {use: tests, expect: pass, stable: 2, optional: true, require: ["coverage >= 80"], complexity: [medium, complex]}
      - {name: vet, run: [go, vet], format: junit, report: "*.xml", timeout: 2m, where: in-place, paths: ["/web/"], when: lap, stable: 1, may-change-tree: false, expect: pass, numbers: {findings: ': error'}}
    guards: {only: ["a/**"], except: ["*_test.go"]}
    on: {pass: NEXT, fail: WORK}
    limits: {attempts: 12, no-progress: 3, same-failure: 4, failed-runs: 3}
    signal: required
    tamper: review
    holdout: true
    breakpoint: balanced
    complexity: [simple]
    half-open: {agent: other}
  NEXT:
    run: {command: gofmt -w .}
    gates:
      - {use: tests}
    on: {pass: LAST}
  LAST:
    run: {agent: reviewer}
    review: {by: anyone, rounds: 5}
    gates:
      - {use: tests}
      - {name: plan, document: plan.md, needs: [tasks]}
      - {name: changed, changes: ["**"], since: lap}
      - {name: adr, file: ["docs/adr/*.md"], contains: [status], since: session, needs: [diagrams]}
    on: {pass: next-lap}
  AFTER:
    gates: [{use: tests}]
    on: {pass: done}
`},
	},
	{
		CardSchemaFile, objects().card, CardSchema,
		func(text []byte) []Finding { _, f := ParseCard("aider.yaml", text); return f },
		[]string{`version: 1
name: aider
about: an agent
command: [aider, --yes, "{files}/rules.toml"]
prompt: stdin
decoder: claude
new: [--new, "{id}"]
resume: [--go-on, "{id}"]
model: ["--model={model}"]
budget: [--usd, "{usd}"]
turns: [--turns, "{turns}"]
allow: [--allow, "{tools}"]
answer: [--schema, "{schema-file}"]
interrupt: true
messages: [--take, messages]
env: [AIDER_*, OPENAI_API_KEY]
set: {AIDER_CHECK_UPDATE: "false", AIDER_MAY: "{tools}"}
files: {rules.toml: "deny = true"}
each: "{tool},"
probe: [aider, --version]
login: aider login
loads: [CONVENTIONS.md]
logged-in: [aider, whoami]
unattended: everything
permit: run {command}
tested: ["0.86.1"]
`},
	},
}

// The schemas in docs/schema must be generated from this source.
func TestSchemaFiles(t *testing.T) {
	t.Parallel()
	for _, k := range kindsOfFiles {
		got, err := os.ReadFile("../docs/schema/" + k.file)
		if err != nil || !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), k.schema()) {
			t.Errorf("docs/schema/%s is not what the table says (%v): go run ./cmd/wfs %s schema > docs/schema/%s",
				k.file, err, strings.TrimSuffix(k.file, ".schema.json"), k.file)
		}
	}
}

// All files that wfs accepts must match the schema: the examples, the built-in workflows, and all files in the
// documentation.
func TestSchemaAccepts(t *testing.T) {
	t.Parallel()
	config, workflow := newValidator(t, ConfigSchema()), newValidator(t, WorkflowSchema())
	for _, k := range kindsOfFiles {
		for _, text := range k.examples {
			if findings := k.parse([]byte(text)); len(findings) > 0 {
				t.Errorf("%v in\n%s", findings, text)
			}
			if p := newValidator(t, k.schema()).problem(valueOf(t, []byte(text))); p != "" {
				t.Errorf("%s in\n%s", p, text)
			}
		}
	}
	cards := newValidator(t, CardSchema())
	for _, name := range BuiltinCardNames() {
		text, _ := BuiltinCardText(name)
		if p := cards.problem(valueOf(t, text)); p != "" {
			t.Errorf("%s: %s", name, p)
		}
	}
	for _, name := range BuiltinNames() {
		text, _ := BuiltinText(name)
		if p := workflow.problem(valueOf(t, text)); p != "" {
			t.Errorf("%s: %s", name, p)
		}
	}
	doc, err := os.ReadFile("../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, part := range strings.Split(strings.ReplaceAll(string(doc), "\r\n", "\n"), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		v := config
		switch {
		case strings.Contains(text, "\ncommand: ["):
			v = cards
		}
		if !strings.HasPrefix(text, "version:") {
			continue
		}
		if strings.Contains(text, "\nphases:") {
			v = workflow
		}
		files++
		if p := v.problem(valueOf(t, []byte(text))); p != "" {
			t.Errorf("%s in\n%s", p, text)
		}
	}
	if files < 3 {
		t.Errorf("%d files in the documentation", files)
	}
}

// Every key of the table is read: the decoder finds a wrong value on its line, and so does the schema. So no key can be
// missing in one of the two.
func TestEveryKeyIsRead(t *testing.T) {
	t.Parallel()
	for _, k := range kindsOfFiles {
		v := newValidator(t, k.schema())
		seen := map[*object]map[string]bool{}
		for _, text := range k.examples {
			r := &reader{file: "f"}
			root := r.load([]byte(text))
			visitEntries(root, isA(k.object), seen, func(value **yaml.Node, in *object, key *key) {
				was := *value
				defer func() { *value = was }()
				for _, wrong := range wrongValues(key.value) {
					*value = wrong
					changed := writeNode(t, root)
					findings := k.parse(changed)
					if len(findings) == 0 || strings.Contains(findings[0].Message, "unknown key") {
						t.Errorf("%s: the decoder passes over %q in %s: %v\n%s", k.file, key.name, in.name, findings, changed)
					}
					if v.problem(valueOf(t, changed)) == "" {
						t.Errorf("%s: the schema passes over %q in %s\n%s", k.file, key.name, in.name, changed)
					}
				}
			})
			visitObjects(root, isA(k.object), func(n *yaml.Node, o *object) {
				n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "no-such-key"}, &yaml.Node{Kind: yaml.ScalarNode, Value: "x"})
				if changed := writeNode(t, root); len(k.parse(changed)) == 0 || v.problem(valueOf(t, changed)) == "" {
					t.Errorf("%s: an unknown key in %s is not found\n%s", k.file, o.name, changed)
				}
				n.Content = n.Content[:len(n.Content)-2]
			})
		}
		missing(t, k.file, isA(k.object), seen)
	}
}

// The reference has a row for every key, with the default of the table.
func TestEveryKeyIsDescribed(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.ReplaceAll(string(data), "\r\n", "\n")
	for _, k := range kindsOfFiles {
		visitTable(k.object, map[*object]bool{}, func(o *object, key key) {
			if key.about == "" || o.about == "" {
				t.Errorf("help.txt does not describe %s.%s", o.name, key.name)
			}
			for _, name := range []string{o.name + "." + key.name, key.name} {
				if _, row, ok := strings.Cut(doc, "\n| `"+name+"` | "); ok {
					if first, _, _ := strings.Cut(row, " |"); key.fallback != "" && first != "`"+key.fallback+"`" {
						t.Errorf("docs/workflows.md: the default of %s is %s there, and %s in the table", name, first, key.fallback)
					}
					return
				}
			}
			if key.value.kind != anObject { // its own keys are described
				t.Errorf("docs/workflows.md has no row for %s, in %s", key.name, o.name)
			}
		})
	}
}

// Writing a default explicitly changes nothing.
func TestFallbacks(t *testing.T) {
	t.Parallel()
	lines := "version: 1\nagent: {command: a%s}\ngates:\n  t: {run: a%s}\n"
	var agent, gate strings.Builder
	for _, k := range objects().agent.keys {
		if k.fallback != "" {
			fmt.Fprintf(&agent, ", %s: %s", k.name, k.fallback)
		}
	}
	for _, k := range objects().gate.keys {
		if k.fallback != "" {
			fmt.Fprintf(&gate, ", %s: %s", k.name, k.fallback)
		}
	}
	without, _ := ParseConfig("f", fmt.Appendf(nil, lines, "", ""))
	with, findings := ParseConfig("f", fmt.Appendf(nil, lines, agent.String(), gate.String()))
	if len(findings) > 0 || fmt.Sprintf("%+v", *without) != fmt.Sprintf("%+v", *with) {
		t.Errorf("%v\nwithout %+v\nwith    %+v", findings, without, with)
	}
}

// wrongValues returns values that a key of this shape must refuse.
func wrongValues(s shape) []*yaml.Node {
	truth, text := &yaml.Node{Kind: yaml.ScalarNode, Value: "true"}, &yaml.Node{Kind: yaml.ScalarNode, Value: "x"}
	nested := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{{Kind: yaml.SequenceNode, Content: []*yaml.Node{text}}}}
	null := &yaml.Node{Kind: yaml.ScalarNode, Value: "null"}
	if s.kind == aTruth {
		return []*yaml.Node{text, nested, null}
	}
	return []*yaml.Node{truth, nested, null}
}

// visitEntries calls see for every entry of a document that the table knows.
func visitEntries(n *yaml.Node, s shape, seen map[*object]map[string]bool, see func(**yaml.Node, *object, *key)) {
	visitObjects(n, s, func(n *yaml.Node, o *object) {
		if seen[o] == nil {
			seen[o] = map[string]bool{}
		}
		for i := 0; i < len(n.Content); i += 2 {
			if k := o.key(n.Content[i].Value); k != nil {
				seen[o][k.name] = true
				see(&n.Content[i+1], o, k)
			}
		}
	})
}

// visitObjects calls see for every mapping of a document that has a fixed set of keys.
func visitObjects(n *yaml.Node, s shape, see func(*yaml.Node, *object)) {
	switch s.kind {
	case aList:
		for _, item := range n.Content {
			visitObjects(item, *s.of, see)
		}
	case aMap:
		for i := 1; i < len(n.Content); i += 2 {
			visitObjects(n.Content[i], *s.of, see)
		}
	case anObject:
		if n.Kind != yaml.MappingNode {
			return
		}
		see(n, s.object)
		for i := 0; i < len(n.Content); i += 2 {
			if k := s.object.key(n.Content[i].Value); k != nil {
				visitObjects(n.Content[i+1], k.value, see)
			}
		}
	}
}

// visitTable calls see for every key of the table.
func visitTable(o *object, done map[*object]bool, see func(*object, key)) {
	if done[o] {
		return
	}
	done[o] = true
	var down func(s shape)
	down = func(s shape) {
		if s.object != nil {
			visitTable(s.object, done, see)
		}
		if s.of != nil {
			down(*s.of)
		}
	}
	for _, k := range o.keys {
		see(o, k)
		down(k.value)
	}
}

// missing reports keys that no example has.
func missing(t *testing.T, file string, s shape, seen map[*object]map[string]bool) {
	t.Helper()
	visitTable(s.object, map[*object]bool{}, func(o *object, k key) {
		if !seen[o][k.name] {
			t.Errorf("no example for %s has the key %q of %s: add it to kindsOfFiles", file, k.name, o.name)
		}
	})
}

// writeNode writes a document as YAML.
func writeNode(t *testing.T, n *yaml.Node) []byte {
	t.Helper()
	text, err := yaml.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func isA(o *object) shape { return shape{kind: anObject, object: o} }
