package workflows

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawnLayer is one configuration file: its values with their lines.
type drawnLayer struct {
	text  string
	flat  map[string]drawn            // "agent.idle"
	gates map[string]map[string]drawn // by gate, by key
}

type drawn struct {
	value any
	line  int
}

func drawLayer(t *rapid.T, number int) drawnLayer {
	l := drawnLayer{flat: map[string]drawn{}, gates: map[string]map[string]drawn{}}
	line := 1
	var b strings.Builder
	b.WriteString("version: 1\n")
	write := func(indent, key, written string) int {
		line++
		fmt.Fprintf(&b, "%s%s: %s\n", indent, key, written)
		return line
	}
	some := func(what string) bool { return rapid.Bool().Draw(t, what) }
	pick := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }
	if some("workflow") {
		v := pick("name", "tdd", "plan", "mine")
		l.flat["workflow"] = drawn{v, write("", "workflow", v)}
	}
	if some("agree") {
		v := pick("agree", "person", "auto")
		l.flat["agree"] = drawn{v, write("", "agree", v)}
	}
	if some("refactor") {
		v := pick("refactor", "always", "auto")
		l.flat["refactor"] = drawn{v, write("", "refactor", v)}
	}
	if some("env") {
		v := []any{"OF_" + fmt.Sprint(number)}
		if some("second") {
			v = append(v, "ALSO")
		}
		l.flat["env"] = drawn{v, write("", "env", strings.ReplaceAll(fmt.Sprint(v), " ", ", "))}
	}
	worker := pick("worker", "", "command", "script", "use")
	switch {
	case worker == "use":
		v := pick("card", "claude", "gemini")
		if some("short") {
			l.flat["agent.use"] = drawn{v, write("", "agent", v)}
			break
		}
		write("", "agent", "")
		l.flat["agent.use"] = drawn{v, write("  ", "use", v)}
		if some("model") {
			model := fmt.Sprintf("model-of-%d", number)
			l.flat["agent.model"] = drawn{model, write("  ", "model", model)}
		}
		if some("args") {
			l.flat["agent.args"] = drawn{[]any{"-x"}, write("  ", "args", "[-x]")}
		}
	case worker == "command" && some("short"):
		v := fmt.Sprintf("agent-of-%d", number)
		l.flat["agent.command"] = drawn{v, write("", "agent", v)}
	case worker != "" || some("times"):
		write("", "agent", "")
		if worker != "" {
			v := fmt.Sprintf("%s-of-%d", worker, number)
			l.flat["agent."+worker] = drawn{v, write("  ", worker, v)}
		}
		v := pick("idle", "1m", "30m", "90s")
		l.flat["agent.idle"] = drawn{v, write("  ", "idle", v)}
	}
	if some("gates") {
		write("", "gates", "")
		for _, name := range []string{"tests", "lint", "Vet"} {
			if name != "tests" && !some(name) {
				continue
			}
			write("  ", name, "")
			run := fmt.Sprintf("run-%s-of-%d", name, number)
			gate := map[string]drawn{"run": {run, write("    ", "run", run)}}
			if some("format") {
				gate["format"] = drawn{"junit", write("    ", "format", "junit")}
			}
			if some("may-change-tree") {
				gate["may-change-tree"] = drawn{true, write("    ", "may-change-tree", "true")}
			}
			l.gates[name] = gate
		}
	}
	l.text = b.String()
	return l
}

// Layers are merged as documented. The highest layer that has a key decides. For the agent, the highest layer with a
// command or script decides, and drops all settings of another agent. A gate comes completely from one layer. Origins
// are correct.
func TestLayers(t *testing.T) {
	t.Parallel()
	sources := []Source{FromUser, FromRepository, FromLocal}
	rapid.Check(t, func(t *rapid.T) {
		var layers []Layer
		var all []drawnLayer
		for i, s := range sources {
			if rapid.Bool().Draw(t, string(s)) {
				l := drawLayer(t, i)
				if d, ok := l.flat["agent.script"]; ok && s == FromUser {
					l.text = strings.Replace(l.text, d.value.(string), "/"+d.value.(string), 1)
					l.flat["agent.script"] = drawn{"/" + d.value.(string), d.line}
				}
				all = append(all, l)
				layers = append(layers, Layer{Source: s, Name: string(s), Text: []byte(l.text)})
			}
		}
		if rapid.Bool().Draw(t, "typed") {
			layers = append(layers, Layer{Source: FromEnvironment, Name: "$WFS_AGENT", Key: "agent", Value: "typed"})
			all = append(all, drawnLayer{flat: map[string]drawn{"agent.command": {"typed", 0}}})
		}

		type origin struct {
			value any
			from  string
			line  int
		}
		want := map[string]origin{}
		defaults := func(prefix string, o *object) {
			for _, k := range o.keys {
				if k.fallback != "" {
					want[prefix+k.name] = origin{defaultValue(&k), "", 0}
				}
			}
		}
		defaults("", objects().config)
		defaults("agent.", objects().agent)
		defaults("worktree.", objects().worktree)
		defaults("holdout.", objects().config.key("holdout").value.object)
		defaults("finish.", objects().config.key("finish").value.object)
		defaults("limits.", objects().config.key("limits").value.object)
		defaults("auto-save.", objects().config.key("auto-save").value.object)
		for i, l := range all {
			for _, worker := range []string{"agent.use", "agent.command", "agent.script"} {
				d, chosen := l.flat[worker]
				if chosen && (want[worker].value != d.value) { // another agent: drop the settings of the one before
					for _, key := range []string{"agent.use", "agent.command", "agent.script", "agent.model", "agent.args"} {
						delete(want, key)
					}
				}
			}
			for key, d := range l.flat {
				want[key] = origin{d.value, layers[i].Name, d.line}
			}
			for name, gate := range l.gates {
				for key := range want { // a gate drops all keys of a lower layer's
					if strings.HasPrefix(key, "gates."+name+".") {
						delete(want, key)
					}
				}
				defaults("gates."+name+".", objects().gate)
				for key, d := range gate {
					want["gates."+name+"."+key] = origin{d.value, layers[i].Name, d.line}
				}
			}
		}
		s, findings := ReadLayers(layers...)
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		got := map[string]origin{}
		for _, x := range s.List {
			got[x.Key] = origin{x.Value, x.Name, x.Line}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
		if run, ok := want["gates.tests.run"]; ok && s.Config.Gates["tests"].Run.Shell != run.value {
			t.Fatalf("gates: %+v", s.Config.Gates)
		}
		if c, ok := want["agent.command"]; ok && (s.Config.Agent.Command.Shell != c.value || s.Config.Agent.ScriptPath != "") {
			t.Fatalf("agent: %+v", s.Config.Agent)
		}
	})
}

func TestLayersMistakes(t *testing.T) {
	t.Parallel()
	file := func(source Source, name, text string) Layer {
		return Layer{Source: source, Name: name, Text: []byte("version: 1\n" + text)}
	}
	for name, c := range map[string]struct {
		layers []Layer
		want   string
	}{
		"each file is checked, and all are": {
			[]Layer{file(FromUser, "user", "agre: auto"), file(FromRepository, "repo", "gates: []"), {Source: FromEnvironment, Name: "$WFS_AGREE", Key: "agree", Value: "x"}},
			`user:2: unknown key "agre" (did you mean "agree"?)
repo:2: gates must be a mapping of names to values, not a list
$WFS_AGREE: agree must be one of person, auto, not "x"`,
		},
		"a layer that is empty": {[]Layer{{Source: FromLocal, Name: "local"}}, "local:1: the file is empty"},
		"gates alike": {
			[]Layer{file(FromRepository, "repo", "gates:\n  tests: {run: a}"), file(FromLocal, "local", "gates:\n  Tests: {run: b}")},
			"local:3: gate Tests differs in nothing but capital letters from tests in repo",
		},
		"a script outside": {[]Layer{file(FromRepository, "repo", "agent: {script: /tmp/x}")},
			`repo:2: agent: script "/tmp/x" leads out of the work tree, where a repository may not point`},
		"a work tree elsewhere": {[]Layer{file(FromRepository, "repo", `worktree: {dir: "../../.config/{slug}"}`)},
			`repo:2: worktree: dir "../../.config/{slug}" is neither below the work tree nor right beside it, where a repository may not point`},
		"a work tree in a hidden place": {[]Layer{file(FromRepository, "repo", `worktree: {dir: "../.{slug}"}`)},
			`repo:2: worktree: dir "../.{slug}" is neither below the work tree nor right beside it, where a repository may not point`},
		"work trees beside, below, and of one's own": {[]Layer{file(FromRepository, "repo", `worktree: {dir: "../{repo}.{slug}"}`),
			file(FromRepository, "repo", `worktree: {dir: ".trees/{slug}"}`), file(FromUser, "user", `worktree: {dir: "/big/{repo}/{slug}"}`)}, ""},
		"a script of one's own outside": {[]Layer{file(FromLocal, "local", "agent: {script: ../x}")}, ""},
		"a script for all repositories": {[]Layer{file(FromUser, "user", "agent: {script: x}")},
			`user:2: agent: script "x" must be absolute in a configuration for all repositories`},
	} {
		_, findings := ReadLayers(c.layers...)
		var got []string
		for _, f := range findings {
			got = append(got, f.String())
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, "\n"), c.want)
		}
	}
}

// A personal key is refused in a repository's file, and only there.
func TestPersonal(t *testing.T) {
	t.Parallel()
	for _, k := range objects().config.keys {
		for _, example := range kindsOfFiles[0].examples {
			if k.value.personal == "" || !strings.Contains(example, "\n"+k.name+":") {
				continue
			}
			_, repo := ReadLayers(Layer{Source: FromRepository, Name: "f", Text: []byte(example)})
			_, local := ReadLayers(Layer{Source: FromLocal, Name: "f", Text: []byte(example)})
			if len(local) > 0 || !slices.ContainsFunc(repo, func(f Finding) bool {
				return strings.Contains(f.Message, k.name+" is not for a repository to set: "+k.value.personal)
			}) {
				t.Errorf("%s: %v, %v", k.name, repo, local)
			}
		}
	}
}

// A repository may lower a cap of the user's own file, but not raise it. The user's other layers may do both.
func TestRepositoriesLowerBudgets(t *testing.T) {
	t.Parallel()
	file := func(source Source, text string) Layer {
		return Layer{Source: source, Name: string(source), Text: []byte("version: 1\n" + text)}
	}
	read := func(layers ...Layer) *Settings {
		t.Helper()
		s, findings := ReadLayers(layers...)
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		return s
	}
	own := file(FromUser, "budget: {session: {usd: 20, time: 2h}, day: {tokens: 1000}}\nlimits: {calls-per-hour: 50}")
	s := read(own, file(FromRepository, "budget: {session: {usd: 5.5, time: 90h, turns: 7}, day: {tokens: 1001}}\nlimits: {calls-per-hour: 51}"))
	want := Budget{Session: Cap{USD: 5.5, Seconds: 7200, Turns: 7}, Day: Cap{Tokens: 1000}, CallsPerHour: 50}
	if s.Config.Budget != want {
		t.Errorf("%+v, want %+v", s.Config.Budget, want)
	}
	for key, source := range map[string]Source{"budget.session.usd": FromRepository, "budget.session.time": FromUser, "limits.calls-per-hour": FromUser} {
		if x, ok := s.Get(key); !ok || x.Source != source {
			t.Errorf("%s is of %s", key, x.Source)
		}
	}
	s = read(own, file(FromRepository, "limits: {calls-per-hour: 10}"), file(FromLocal, "limits: {calls-per-hour: 200}"))
	if s.Config.Budget.CallsPerHour != 200 {
		t.Errorf("the clone's own file has no word: %+v", s.Config.Budget)
	}
	if s = read(file(FromRepository, "budget: {session: {usd: 500}}")); s.Config.Budget.Session.USD != 500 {
		t.Errorf("a repository's cap alone: %+v", s.Config.Budget)
	}
}

func TestBudgetMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"budget: {session: {usd: 0}}":      "f:2: budget: session: usd must be an amount of dollars (20, 2.50), at most 1000000, not 0",
		"budget: {day: {usd: lots}}":       `f:2: budget: day: usd must be an amount of dollars (20, 2.50), at most 1000000, not "lots"`,
		"budget: {phase: {tokens: 1.5}}":   "f:2: budget: phase: tokens must be a whole number from 1 to 2000000000, not 1.5",
		"budget: {phase: {time: 3}}":       "f:2: budget: phase: time needs a unit: 3s or 3m?",
		"budget: {week: {usd: 3}}":         `f:2: budget: unknown key "week" (known: session, phase, day)`,
		"limits: {calls-per-hour: -1}":     "f:2: limits: calls-per-hour must be a whole number from 1 to 1000, not -1",
		"budget: {session: {usd: .nan}}":   "f:2: budget: session: usd must be an amount of dollars (20, 2.50), at most 1000000, not .nan",
		"budget: {session: {usd: 1e9}}":    "f:2: budget: session: usd must be an amount of dollars (20, 2.50), at most 1000000, not 1e9",
		"budget: {session: {attempts: 0}}": "f:2: budget: session: attempts must be a whole number from 1 to 2000000000, not 0",
	} {
		_, findings := ParseConfig("f", []byte("version: 1\n"+text))
		if len(findings) != 1 || findings[0].String() != want {
			t.Errorf("%s: %v", text, findings)
		}
	}
}
