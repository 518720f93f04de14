package workflows

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

const small = `version: 1
name: small
start: WORK
phases:
  WORK:
    gates: [{use: tests}]
    on: {pass: done}
`

const full = `version: 1
name: full
description: everything at once
start: RED
laps: {agree: auto, max: 7}
phases:
  RED:
    brief: |
      Write a test.
    run: agent
    gates:
      - {use: tests, expect: red}
      - {name: vet, run: "go vet ./...", format: exit-code, timeout: 2m, where: in-place, may-change-tree: false}
    guards: {only: ["**/*_test.go", "docs/"], except: [".github/**"]}
    on: {pass: GEN, fail: RED}
    limits: {attempts: 9, no-progress: 3, same-failure: 4, failed-runs: 2}
  GEN:
    run: {command: [make, gen, ""]}
    gates:
      - {name: report, run: make test, format: junit, report: "build/*.xml", may-change-tree: true}
    on: {pass: next-lap}
`

func TestParseWorkflow(t *testing.T) {
	t.Parallel()
	want := &Workflow{
		Version: 1, Name: "full", Description: "everything at once", Start: "RED",
		Laps: &Laps{Agree: AgreeAuto, Max: 7},
		Phases: []Phase{
			{
				Name: "RED", Brief: "Write a test.\n", Run: Run{Agent: true},
				Gates: []Gate{
					{Name: "tests", Use: "tests", Expect: ExpectRed},
					{Name: "vet", Run: Command{Shell: "go vet ./..."}, Format: FormatExit, Where: InPlace, Expect: ExpectPass, Timeout: 2 * time.Minute},
				},
				Guards: Guards{Only: []string{"**/*_test.go", "docs/"}, Except: []string{".github/**"}},
				On:     map[Verdict]PhaseName{Pass: "GEN", Fail: "RED"},
				Limits: Limits{Attempts: 9, NoProgress: 3, SameFailure: 4, FailedRuns: 2},
				Signal: SignalVeto,
			},
			{
				Name: "GEN", Run: Run{Command: Command{Argv: []string{"make", "gen", ""}}},
				Gates: []Gate{{
					Name: "report", Run: Command{Shell: "make test"}, Format: FormatJUnit, Report: "build/*.xml", Where: Auto,
					Expect: ExpectPass, Timeout: DefaultGateTimeout, MayChangeTree: true,
				}},
				On: map[Verdict]PhaseName{Pass: NextLap, Fail: "GEN"},
			},
		},
	}
	for name, text := range map[string]string{
		"plain":          full,
		"CRLF":           strings.ReplaceAll(full, "\n", "\r\n"),
		"BOM":            "\ufeff" + full,
		"document marks": "---\n" + full + "...\n",
		"comments":       "# first\n" + full + "# last\n",
	} {
		got, findings := ParseWorkflow("full.yaml", []byte(text))
		if len(findings) > 0 {
			t.Errorf("%s: %v", name, findings)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
}

// mistakes are edits of a correct file with all expected findings, one per line, with the hint after " | ".
type mistakes []struct{ name, old, new, want string }

func (m mistakes) check(t *testing.T, good string, parse func(text string) []Finding) {
	t.Helper()
	if findings := parse(good); len(findings) > 0 {
		t.Fatalf("the good file: %v", findings)
	}
	for _, tt := range m {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := tt.new
			if tt.old != "" {
				if strings.Count(good, tt.old) != 1 {
					t.Fatalf("%q is %d times in the good file", tt.old, strings.Count(good, tt.old))
				}
				text = strings.Replace(good, tt.old, tt.new, 1)
			}
			var got []string
			for _, f := range parse(text) {
				line := f.String()
				if f.Hint != "" {
					line += " | " + f.Hint
				}
				got = append(got, line)
			}
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("%s\n got:\n%s\nwant:\n%s", text, strings.Join(got, "\n"), tt.want)
			}
		})
	}
}

func TestWorkflowMistakes(t *testing.T) {
	t.Parallel()
	big := "version: 1\n#" + strings.Repeat("x", MaxFileSize)
	mistakes{
		{"empty", "", "", "w.yaml:1: the file is empty"},
		{"comments only", "", "# nothing\n", "w.yaml:1: the file is empty"},
		{"null", "", "---\n~\n", "w.yaml:1: the file is empty"},
		{"too big", "", big, "w.yaml:1: the file has 1048588 bytes; at most 1048576 are read"},
		{"not UTF-8", "name: small", "name: sm\xffall", "w.yaml:2: the text is not UTF-8"},
		{"a list", "", "- a\n", "w.yaml:1: the file must be a mapping (key: value), not a list"},
		{"two documents", "", small + "---\n" + small, "w.yaml:8: the file holds more than one document"},
		{"bad second document", "", small + "---\na: [\n", "w.yaml:9: this is not valid YAML: did not find expected node content"},
		{"indentation", "    on: {pass: done}", "   on: {pass: done}",
			"w.yaml:7: this is not valid YAML: did not find expected key"},
		{"tab", "    on: {pass: done}", "\ton: {pass: done}",
			"w.yaml:7: this is not valid YAML: found character that cannot start any token"},
		{"open bracket", "[{use: tests}]", "[{use: tests}",
			"w.yaml:6: this is not valid YAML: did not find expected ',' or ']'"},
		{"open quote", "name: small", `name: "small`, "w.yaml:2: this is not valid YAML: found unexpected end of stream"},
		{"colon in text", "name: small", "name: small: really",
			"w.yaml:2: this is not valid YAML: mapping values are not allowed in this context"},
		{"alias", "[{use: tests}]", "[&x {use: tests}, *x]",
			"w.yaml:6: anchors (&x) are not supported: write the value out where it is used\n" +
				"w.yaml:6: aliases (*x) are not supported: write the value out where it is used"},
		{"merge", "    on: {pass: done}", "    on: &o {pass: done}\n  MORE:\n    <<: *o\n    gates: [{use: tests}]\n    on: {pass: done}",
			"w.yaml:7: anchors (&o) are not supported: write the value out where it is used\n" +
				"w.yaml:8: phase MORE cannot be reached from WORK\n" +
				"w.yaml:9: aliases (*o) are not supported: write the value out where it is used"},

		{"no version", "version: 1\n", "", "w.yaml:1: version is missing | begin the file with: version: 1"},
		{"newer version", "version: 1\n", "version: 2\nsomething: &new\n",
			"w.yaml:1: version 2 is newer than this wfs, which reads version 1 | a newer wfs may read it"},
		{"version as text", "version: 1\n", "version: \"1\"\n", `w.yaml:1: version must be the number 1, not "1"`},
		{"version 0", "version: 1\n", "version: 0\n", `w.yaml:1: version must be the number 1, not 0`},
		{"unknown key", "start: WORK", "start: WORK\nlap: {}", `w.yaml:4: unknown key "lap" (did you mean "laps"?)`},
		{"unknown key, nothing near", "start: WORK", "start: WORK\ncolour: red",
			`w.yaml:4: unknown key "colour" (known: version, name, description, start, laps, tamper, refactor, phases)`},
		{"duplicate key twice", "start: WORK", "start: WORK\nstart: WORK", `w.yaml:4: duplicate key "start" (first in line 3)`},
		{"key that is no text", "start: WORK", "start: WORK\n[a]: b", `w.yaml:4: a key must be text, not a list`},
		{"no name", "name: small\n", "", "w.yaml:1: name is missing | name: The name that `wfs new --workflow` takes."},
		{"bad name", "name: small", "name: my flow", `w.yaml:2: name "my flow" may hold letters, digits, - and _ only`},
		{"path as name", "name: small", "name: ../small", `w.yaml:2: name "../small" must begin with a letter (a-z, A-Z)`},
		{"number as name", "name: small", "name: 12", `w.yaml:2: name must be text, not 12 | put it in quotes: "12"`},
		{"description of two lines", "start: WORK", "description: |\n  a\n  b\nstart: WORK", "w.yaml:3: description must be one line"},
		{"control character", "start: WORK", "description: \"a\\eb\"\nstart: WORK", "w.yaml:3: description holds a control character"},
		{"no start", "start: WORK\n", "", "w.yaml:1: start is missing | start: The first phase."},
		{"unknown start", "start: WORK", "start: WROK", `w.yaml:3: start is "WROK", which is not a phase (did you mean "WORK"?)`},
		{"start is nowhere", "start: WORK", "start: BEGINNING", `w.yaml:3: start is "BEGINNING", which is not a phase (known: WORK)`},
		{"phases is a list", "  WORK:\n    gates: [{use: tests}]\n    on: {pass: done}", "  - WORK",
			"w.yaml:4: phases must be a mapping of names to values, not a list"},
		{"no phases", "phases:\n  WORK:\n    gates: [{use: tests}]\n    on: {pass: done}\n", "",
			"w.yaml:1: phases is missing | phases: Phases by name, at least one."},
		{"phase without anything", "    gates: [{use: tests}]\n    on: {pass: done}\n", "",
			"w.yaml:5: phase WORK must be a mapping (key: value), not empty"},
		{"reserved phase", "  WORK:", "  Done:\n    gates: [{use: tests}]\n    on: {pass: WORK}\n  WORK:",
			"w.yaml:5: phases: \"Done\" is taken: done is a target of on:\nw.yaml:5: phase Done cannot be reached from WORK"},
		{"phases alike", "{pass: done}", "{pass: Work}\n  Work:\n    gates: [{use: tests}]\n    on: {pass: done}",
			"w.yaml:8: phase Work differs in nothing but capital letters from WORK in w.yaml | give it another name, or write WORK"},

		{"no gates", "    gates: [{use: tests}]\n", "",
			"w.yaml:5: phase WORK: gates is missing: without a gate wfs would have to believe the agent | " +
				"gates: [{use: tests}] uses the gate of .wfs/config.yaml that is called tests"},
		{"empty gates", "[{use: tests}]", "[]", "w.yaml:6: phase WORK: gates is an empty list"},
		{"gates is a mapping", "[{use: tests}]", "{use: tests}", "w.yaml:6: phase WORK: gates must be a list of gates, not a mapping"},
		{"gate is a word", "[{use: tests}]", "[tests]",
			`w.yaml:6: phase WORK: gate 1 must be a mapping (key: value), not "tests"`},
		{"gate without name", "{use: tests}", "{run: make}",
			"w.yaml:6: phase WORK: gate 1 has no name | use: a gate of .wfs/config.yaml, or name: and run: for a gate of this workflow's own"},
		{"gate without run", "{use: tests}", "{name: t}",
			`w.yaml:6: phase WORK: gate 1 has nothing to run | run: the command that judges, for example "go test ./..."`},
		{"gate with use and more", "{use: tests}", "{use: tests, timeout: 1m}",
			"w.yaml:6: phase WORK: gate 1: timeout belongs to the definition of the gate that it uses, in .wfs/config.yaml"},
		{"gate key", "{use: tests}", "{use: tests, expects: red}", `w.yaml:6: phase WORK: gate 1: unknown key "expects" (did you mean "expect"?)`},
		{"expect", "{use: tests}", "{use: tests, expect: reed}",
			`w.yaml:6: phase WORK: gate 1: expect must be one of pass, red, not "reed" | did you mean red?`},
		{"format", "{use: tests}", "{name: t, run: make, format: tape, expect: red}",
			`w.yaml:6: phase WORK: gate 1: format must be one of go-test-json, junit, jest-json, cargo-test, unittest, rspec-json, minitest, trx, tap, exit-code, not "tape" | did you mean tap?`},
		{"red by exit code", "{use: tests}", "{name: t, run: make, expect: red}",
			"w.yaml:6: phase WORK: gate 1: expect red needs a format that has per-test results (go-test-json, junit, …), not exit-code"},
		{"clean", "{use: tests}", "{name: t, run: make, where: clean, may-change-tree: true}",
			"w.yaml:6: phase WORK: gate 1: may-change-tree: its changes in a clean checkout are thrown away | use where: in-place"},
		{"report", "{use: tests}", "{name: t, run: make, report: a.xml}",
			"w.yaml:6: phase WORK: gate 1: report is not read with format exit-code; it is with junit, jest-json, rspec-json and trx"},
		{"absolute report", "{use: tests}", "{name: t, run: make, format: junit, report: /tmp/a.xml}",
			`w.yaml:6: phase WORK: gate 1: report: pattern "/tmp/a.xml" must be relative to the top of the work tree, without a leading /`},
		{"same gate twice", "{use: tests}", "{use: tests}, {use: tests, expect: red}", "w.yaml:5: phase WORK: two gates are called tests"},
		{"another gate of the same name", "{pass: done}", "{pass: B}\n  B:\n    gates: [{name: Tests, run: make}]\n    on: {pass: done}",
			"w.yaml:8: phase B: gate Tests is another one than in an earlier phase: give it another name"},
		{"used gate and own gate of the same name", "{pass: done}", "{pass: B}\n  B:\n    gates: [{name: tests, run: make}]\n    on: {pass: done}",
			"w.yaml:8: phase B: gate tests is another one than in an earlier phase: give it another name"},
		{"blank command", "{use: tests}", `{name: t, run: " "}`, "w.yaml:6: phase WORK: gate 1: run is empty"},
		{"command is a number", "{use: tests}", `{name: t, run: [make, 1]}`,
			`w.yaml:6: phase WORK: gate 1: run must be text, not 1 | put it in quotes: "1"`},
		{"command is a mapping", "{use: tests}", `{name: t, run: {a: b}}`,
			`w.yaml:6: phase WORK: gate 1: run must be a command: text for the shell, or a list of arguments, not a mapping`},
		{"truth", "{use: tests}", "{name: t, run: make, may-change-tree: yes}",
			`w.yaml:6: phase WORK: gate 1: may-change-tree must be true or false, not "yes"`},
		{"duration without unit", "{use: tests}", "{name: t, run: make, timeout: 90}",
			"w.yaml:6: phase WORK: gate 1: timeout needs a unit: 90s or 90m?"},
		{"duration that is none", "{use: tests}", "{name: t, run: make, timeout: soon}",
			`w.yaml:6: phase WORK: gate 1: timeout must be a duration (90s, 10m, 1h30m), at most 168h, not "soon"`},
		{"duration of nothing", "{use: tests}", "{name: t, run: make, timeout: 0s}",
			"w.yaml:6: phase WORK: gate 1: timeout must be a duration (90s, 10m, 1h30m), at most 168h, not \"0s\""},
		{"duration of years", "{use: tests}", "{name: t, run: make, timeout: 9000h}",
			"w.yaml:6: phase WORK: gate 1: timeout must be a duration (90s, 10m, 1h30m), at most 168h, not \"9000h\""},

		{"run", "    on:", "    run: robot\n    on:", `w.yaml:7: phase WORK: run must be agent, human, {agent: …} or {command: …}, not "robot"`},
		{"run without command", "    on:", "    run: {}\n    on:", `w.yaml:7: phase WORK: run is empty: agent, human, {agent: …} or {command: …}`},
		{"run with both", "    on:", "    run: {agent: a, command: b}\n    on:", `w.yaml:7: phase WORK: run names both an agent and a command: choose one`},
		{"document and run", "{use: tests}", "{name: d, document: plan.md, run: ls}", "w.yaml:6: phase WORK: gate 1: run belongs to a gate that runs a command"},
		{"document and expect", "{use: tests}", "{name: d, document: plan.md, expect: red}", "w.yaml:6: phase WORK: gate 1: expect belongs to a gate that runs a command"},
		{"document and changes", "{use: tests}", "{name: d, document: plan.md, changes: ['**']}", "w.yaml:6: phase WORK: gate 1 looks at more than one of document, file and changes: make it several gates"},
		{"document outside", "{use: tests}", "{name: d, document: ../plan.md}", `w.yaml:6: phase WORK: gate 1: document: pattern "../plan.md" may not hold empty, . or .. directories`},
		{"document pattern", "{use: tests}", "{name: d, document: '*.md'}", `w.yaml:6: phase WORK: gate 1: document: pattern "*.md" must be the name of one document`},
		{"document directory", "{use: tests}", "{name: d, document: notes/}", `w.yaml:6: phase WORK: gate 1: document: pattern "notes/" must be the name of one document, not of a directory`},
		{"needs", "{use: tests}", "{name: d, document: a.md, needs: [task]}", `w.yaml:6: phase WORK: gate 1: needs must be one of tasks, items, ticked, order, diagrams, not "task" | did you mean tasks?`},
		{"needs alone", "{use: tests}", "{name: d, changes: ['**'], needs: [tasks]}", "w.yaml:6: phase WORK: gate 1: needs is about a document or a file, and there is none"},
		{"needs of a command", "{use: tests}", "{name: d, run: ls, needs: [tasks]}", "w.yaml:6: phase WORK: gate 1: needs is about a document or a file, and there is none"},
		{"use and document", "{use: tests}", "{use: tests, document: a.md}", "w.yaml:6: phase WORK: gate 1: document belongs to the definition of the gate that it uses, in .wfs/config.yaml"},
		{"guards", "    on:", "    guards: {only: [/, /a, ../b, '!c', 'a**', '[', 'a\\b', '{a,b}', 'a//b']}\n    on:",
			`w.yaml:7: phase WORK: guards: only: pattern "/" may not hold empty, . or .. directories
w.yaml:7: phase WORK: guards: only: pattern "../b" may not hold empty, . or .. directories
w.yaml:7: phase WORK: guards: only: pattern "!c" cannot be negated: use only and except
w.yaml:7: phase WORK: guards: only: pattern "a**" may hold ** only as a whole directory: a/**/b
w.yaml:7: phase WORK: guards: only: pattern "[" has a [ that is not closed, or an empty range
w.yaml:7: phase WORK: guards: only: pattern "a\\b" must be written with / between directories, and without \
w.yaml:7: phase WORK: guards: only: pattern "{a,b}" cannot hold {alternatives}: write one pattern for each
w.yaml:7: phase WORK: guards: only: pattern "a//b" may not hold empty, . or .. directories`},
		{"empty guard", "    on:", "    guards: {only: []}\n    on:", "w.yaml:7: phase WORK: guards: only is an empty list"},
		{"limits", "    on:", "    limits: {attempts: 0, no_progress: 1, same-failure: many}\n    on:",
			`w.yaml:7: phase WORK: limits: unknown key "no_progress" (did you mean "no-progress"?)
w.yaml:7: phase WORK: limits: attempts must be a whole number from 1 to 1000, not 0
w.yaml:7: phase WORK: limits: same-failure must be a whole number from 1 to 1000, not "many"`},

		{"no on", "    on: {pass: done}\n", "", "w.yaml:5: phase WORK: on is missing | on: Where each verdict leads: {pass: another phase, next-lap or done}."},
		{"no pass", "{pass: done}", "{fail: WORK}", "w.yaml:7: phase WORK: on: pass is missing | pass: Where a passed attempt leads: a phase, next-lap or done."},
		{"other verdict", "{pass: done}", "{pass: done, blocked: done}",
			`w.yaml:7: phase WORK: on: unknown key "blocked" (known: pass, fail)`},
		{"unknown target", "{pass: done}", "{pass: dnoe}", `w.yaml:7: phase WORK: on: pass leads to "dnoe", which is not a phase (did you mean "done"?)`},
		{"lap without laps", "{pass: done}", "{pass: next-lap}",
			"w.yaml:7: phase WORK: on: pass leads to next-lap, and the workflow has no laps | add laps: {agree: person}"},
		{"laps begin nowhere", "start: WORK", "start: WORK\nlaps: {first: NO, then: NOR}",
			"w.yaml:4: laps: first is \"NO\", which is not a phase\nw.yaml:4: laps: then is \"NOR\", which is not a phase\n" +
				"w.yaml:4: laps is set, and no phase leads to next-lap"},
		{"after the laps comes a lap", "{pass: done}", "{pass: next-lap}\n  B:\n    gates: [{use: tests}]\n    on: {pass: WORK}\n" +
			"laps: {then: B}", "w.yaml:5: phase WORK never leads to done\nw.yaml:8: phase B never leads to done\n" +
			"w.yaml:11: laps: then: a pass leads from B to next-lap, and must lead to done"},
		{"requirement", "{use: tests}", "{use: tests, require: [coverage, 'x > 1 %', 'a >= base -']}",
			"w.yaml:6: phase WORK: gate 1: require: requirement \"coverage\" is not like \"coverage >= 80\", \"findings <= base\" or \"coverage >= base - 5\"\n" +
				"w.yaml:6: phase WORK: gate 1: require: requirement \"x > 1 %\" is not like \"coverage >= 80\", \"findings <= base\" or \"coverage >= base - 5\"\n" +
				"w.yaml:6: phase WORK: gate 1: require: requirement \"a >= base -\" is not like \"coverage >= 80\", \"findings <= base\" or \"coverage >= base - 5\""},
		{"number", "{use: tests}", "{name: t, run: ls, numbers: {a: '(', b: '(a)(b)'}}",
			"w.yaml:6: phase WORK: gate 1: numbers: a: regular expression \"(\" is not a regular expression: error parsing regexp: missing closing ): `(`\n" +
				"w.yaml:6: phase WORK: gate 1: numbers: b: regular expression \"(a)(b)\" has more than one group: the group is the number. (?:…) groups without counting"},
		{"laps without lap", "start: WORK", "start: WORK\nlaps: {}", "w.yaml:4: laps is set, and no phase leads to next-lap"},
		{"laps", "start: WORK", "start: WORK\nlaps: {agree: anyone, max: 0}",
			"w.yaml:4: laps: agree must be one of person, auto, not \"anyone\"\n" +
				"w.yaml:4: laps: max must be a whole number from 1 to 1000, not 0\n" +
				"w.yaml:4: laps is set, and no phase leads to next-lap"},
		{"failed work is done", "{pass: done}", "{pass: done, fail: done}",
			"w.yaml:7: phase WORK: on: fail leads to done: work that failed its gates would count as done"},
		{"unreachable", "{pass: done}", "{pass: done}\n  LOST:\n    gates: [{use: tests}]\n    on: {pass: WORK}",
			"w.yaml:8: phase LOST cannot be reached from WORK"},
		{"never done", "{pass: done}", "{pass: A}\n  A:\n    gates: [{use: tests}]\n    on: {pass: WORK}",
			"w.yaml:5: phase WORK never leads to done\nw.yaml:8: phase A never leads to done"},
		// OTHER is a typing mistake that may stand for B.
		{"unknown target, no more findings", "{pass: done}", "{pass: OTHER}\n  B:\n    gates: [{use: tests}]\n    on: {pass: done}",
			`w.yaml:7: phase WORK: on: pass leads to "OTHER", which is not a phase (known: WORK, B, done, next-lap)`},
	}.check(t, small, func(text string) []Finding {
		w, findings := ParseWorkflow("w.yaml", []byte(text))
		if (w == nil) != (len(findings) > 0) {
			t.Errorf("%d findings, and the workflow is %v", len(findings), w)
		}
		return findings
	})
}

func TestTenMistakesAreTenFindings(t *testing.T) {
	t.Parallel()
	_, findings := ParseWorkflow("ten.yaml", []byte(`version: one
name: t d d
start: RDE
laps: {agree: nobody}
phases:
  RED:
    breif: hello
    gates:
      - {use: tests, expect: green}
    on: {pass: GREEEN}
  GREEN:
    gates:
      - {name: t, run: make, timeout: 5}
    limits: {attempts: -1}
    on: {pass: next-lap, fail: done}
`))
	var lines []string
	for _, f := range findings {
		lines = append(lines, fmt.Sprint(f.Line))
	}
	if got := strings.Join(lines, " "); got != "1 2 3 4 7 9 10 13 14 15" {
		t.Errorf("findings in lines %s:\n%v", got, findings)
	}
}

func TestTooManyPhases(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("version: 1\nname: x\nstart: A\nphases:\n")
	for i := range maxPhases + 1 {
		fmt.Fprintf(&b, "  P%d: {gates: [{use: tests}], on: {pass: done}}\n", i)
	}
	_, findings := ParseWorkflow("w.yaml", []byte(b.String()))
	if len(findings) != 1 || findings[0].String() != "w.yaml:4: phases: 101 are too many: at most 100" {
		t.Error(findings)
	}
}
