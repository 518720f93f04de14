package workflows

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Every built-in card can be read, and none lets an agent do everything.
func TestBuiltinCards(t *testing.T) {
	t.Parallel()
	cards := BuiltinCards()
	if got := cards.Names(); !slices.Equal(got, []string{"claude", "codex", "gemini", "opencode"}) ||
		!slices.Equal(got, BuiltinCardNames()) {
		t.Fatalf("cards %v, files %v", got, BuiltinCardNames())
	}
	bypass := []string{"dangerously", "bypass", "yolo", "--auto", "danger-full-access", "--full-auto", "-y",
		"--skip-trust", "--trust"}
	for _, name := range cards.Names() {
		text, _ := BuiltinCardText(name)
		if _, findings := ParseCard(name+".yaml", text); len(findings) > 0 {
			t.Errorf("%v", findings)
		}
		c := cards[name]
		if c.Name != name || c.Origin() != "built in" || c.Decoder != name || c.Command[0] != name ||
			c.Probe[0] != name || len(c.Tested) == 0 || c.Login == "" || c.Unattended == "" {
			t.Errorf("%+v", c)
		}
		for _, w := range slices.Concat(c.Command, c.New, c.Resume, c.Allow) {
			if slices.ContainsFunc(bypass, func(b string) bool {
				return w == b || strings.Contains(w, b) && len(b) > 4 && b != "--auto" && b != "--trust"
			}) {
				t.Errorf("%s: %q gives everything away", name, w)
			}
		}
	}
}

func TestArgv(t *testing.T) {
	t.Parallel()
	c := &Card{Command: []string{"a", "-p"}, Prompt: PromptStdin, New: []string{"--id", "{id}"},
		Resume: []string{"resume", "{id}", "-"},
		Model:  []string{"--model={model}"}, Budget: []string{"--usd", "{usd}"}, Turns: []string{"--turns", "{turns}"},
		Allow:  []string{"--allow", "{tools}"},
		Answer: []string{"--schema", "{schema}"}}
	full := Invocation{Conversation: "c1", Model: "m", Tools: []string{"x y", "z"}, USD: 0.5, Turns: 3, Schema: "{}",
		SchemaFile: "/f", Args: []string{"-q", "{id}"}, Prompt: "do it"}
	again := full
	again.Resume = true
	argument, file := *c, *c
	argument.Prompt, argument.New, file.Answer = PromptArgument, nil, []string{"--file", "{schema-file}"}
	for _, x := range []struct {
		card *Card
		i    Invocation
		want string
	}{
		{c, Invocation{}, "a|-p"},
		{c, full, "a|-p|--model=m|--allow|x y|z|--usd|0.5|--turns|3|--schema|{}|-q|{id}|--id|c1"},
		{c, again, "a|-p|--model=m|--allow|x y|z|--usd|0.5|--turns|3|--schema|{}|-q|{id}|resume|c1|-"},
		{&argument, Invocation{Conversation: "c1", Prompt: "-x"}, "a|-p|-x"},
		{&file, full, "a|-p|--model=m|--allow|x y|z|--usd|0.5|--turns|3|--file|/f|-q|{id}|--id|c1"},
	} {
		if got := strings.Join(x.card.Argv(x.i), "|"); got != x.want {
			t.Errorf("got  %s\nwant %s", got, x.want)
		}
	}
	if !reflect.DeepEqual(c.Command, []string{"a", "-p"}) {
		t.Error("the card has changed")
	}
	if got := BuiltinCards()["claude"].Permission("go test"); got != "Bash(go test:*)" {
		t.Error(got)
	}
	// The last matching pattern decides, so refusals come after permissions.
	got := strings.Join(BuiltinCards()["opencode"].Environ([]string{"go test*", `a"b`}), "\n")
	_, allowed, ok := strings.Cut(got, `OPENCODE_PERMISSION={"bash":{"*":"deny",`)
	_, refused, after := strings.Cut(allowed, `,"go test*":"allow","a\"b":"allow", `)
	if !ok || !after || strings.Contains(refused, "allow") || !strings.Contains(refused, `"git push*":"deny"`) {
		t.Error(got)
	}
	if got := BuiltinCards()["codex"].Permission("go test"); got != "" {
		t.Error(got)
	}
}

func TestVersionIn(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{
		"2.1.329 (Claude Code)\n": "2.1.329", "codex-cli 0.169.0": "0.169.0", "0.61.0": "0.61.0",
		"v1.18.33-beta.2.": "1.18.33-beta.2", "none": "", "7": "",
		"WARNING: x\ncodex-cli 0.170.0-alpha.1\n": "0.170.0-alpha.1",
	} {
		if got := VersionIn(printed); got != want {
			t.Errorf("%q: %q", printed, got)
		}
	}
}

func TestCardMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "version: 1", "x.yaml:1: name is missing\nx.yaml:1: command is missing"},
		{"another name", "version: 1\nname: y\ncommand: [y]", `x.yaml:2: name "y" is not the name of the file`},
		{"a shell's command", "version: 1\nname: x\ncommand: x -p", `x.yaml:3: command must be a list of words, not "x -p"`},
		{"unknown key", "version: 1\nname: x\ncommand: [x]\nresum: [a]",
			`x.yaml:4: unknown key "resum" (did you mean "resume"?)`},
		{"no place", "version: 1\nname: x\ncommand: [x]\nresume: [--resume]", "x.yaml:4: resume has no word with {id}"},
		{"another place", "version: 1\nname: x\ncommand: [x]\nmodel: [--model, '{id}']",
			"x.yaml:4: model: {id} is filled in by nothing there"},
		{"a place in the command", "version: 1\nname: x\ncommand: [x, '{model}']",
			"x.yaml:3: command: {model} is filled in by nothing there"},
		{"two places", "version: 1\nname: x\ncommand: [x]\nanswer: ['{schema}', '{schema-file}']",
			"x.yaml:4: answer holds both {schema} and {schema-file}: one of them"},
		{"JSON is no place", "version: 1\nname: x\ncommand: [x, '{\"a\": {}}']", ""},
		{"new without resume", "version: 1\nname: x\ncommand: [x]\nnew: ['{id}']",
			"x.yaml:4: new names a conversation, but there is no resume to continue it"},
		{"decoder", "version: 1\nname: x\ncommand: [x]\ndecoder: claud",
			`x.yaml:4: decoder must be one of text, claude, codex, gemini, opencode, not "claud"`},
		{"env", "version: 1\nname: x\ncommand: [x]\nenv: ['*', A=b, WFS_X, A, A]", `x.yaml:4: env: "*" is not a variable name
x.yaml:4: env takes names, not values: "A"
x.yaml:4: env: "WFS_X" belongs to wfs, which sets it by itself
x.yaml:4: env: "A" is duplicated`},
		{"set", "version: 1\nname: x\ncommand: [x]\nset: {A-B: c, WFS_RUN_ID: d, E: 1}",
			`x.yaml:4: set: "A-B" is not a variable name
x.yaml:4: set: "WFS_RUN_ID" belongs to wfs, which sets it by itself
x.yaml:4: set: E must be text, not 1`},
		{"each without a place", "version: 1\nname: x\ncommand: [x]\neach: '{tool}'",
			"x.yaml:4: each is filled into {tools} of set, and there is none"},
		{"permit without allow", "version: 1\nname: x\ncommand: [x]\npermit: a {command}",
			"x.yaml:4: permit is a word of allow, and there is neither allow nor each"},
	} {
		card, findings := ParseCard("x.yaml", []byte(c.text))
		var got []string
		for _, f := range findings {
			got = append(got, f.String())
		}
		if strings.Join(got, "\n") != c.want || (card == nil) != (c.want != "") {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), c.want)
		}
	}
}
