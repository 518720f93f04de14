package workflows

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Kinds of streams that a card may name. Package agents has a decoder for each.
var decoderNames = []string{"text", "claude", "codex", "gemini", "opencode"}

// DecoderNames are the kinds of streams that a card may name.
func DecoderNames() []string { return slices.Clone(decoderNames) }

// words is a list of words of a command line.
var words = listOf(shape{kind: aText})

var cardObject = &object{
	about: "An agent of wfs: how to run the program of a coding agent.",
	keys: []key{
		versionKey,
		{name: "name", about: "The name that `agent:` and --agent take; the file is called NAME.yaml.", value: shape{kind: aName}, required: true},
		{name: "about", about: "One line for lists.", value: shape{kind: aLine}},
		{name: "command", about: "The program and its arguments at every start, without a shell.", value: words, required: true},
		{name: "prompt", about: "How it gets the brief: on standard input, or as the last argument.",
			value: word(PromptStdin, PromptArgument), fallback: string(PromptStdin)},
		{name: "decoder", about: "How its standard output is read. text is for a program that prints for people.", value: word(decoderNames...), fallback: "text"},
		{name: "new", about: "Arguments that begin a conversation with the {id} that wfs makes, a UUID. Leave it out when the program makes ids itself.", value: words},
		{name: "resume", about: "Arguments that continue the conversation {id}. Without them every run is a new conversation.", value: words},
		{name: "model", about: "Arguments that choose a {model}.", value: words},
		{name: "budget", about: "Arguments that limit the cost of one run, in {usd}.", value: words},
		{name: "turns", about: "Arguments that limit the {turns} of one run.", value: words},
		{name: "allow", about: "Arguments that permit tools unattended: the one with {tools} is repeated for each.", value: words},
		{name: "answer", about: "Arguments that request a final answer by a JSON {schema}, or by the one in {schema-file}.", value: words},
		{name: "interrupt", about: "Whether an interrupt (SIGINT) ends it cleanly, with a final report of its cost.", value: shape{kind: aTruth}, fallback: "false"},
		{name: "loads", about: "Rule files of a project that it reads by itself when it is started so, such as AGENTS.md. The brief names the others.",
			value: listOf(shape{kind: aText})},
		{name: "env", about: "Names of variables that it may see besides those that every run sees; NAME_* for all that begin so.",
			value: listOf(shape{kind: aVariables})},
		{name: "set", about: "Variables that it is started with.", value: shape{kind: aMap, of: &shape{kind: aText}, names: variablePattern}},
		{name: "files", about: "Texts that are written for each run, by the names of files; {files} in command is the directory that they are in.",
			value: shape{kind: aMap, of: &shape{kind: aText}, names: filePattern}},
		{name: "each", about: "JSON for one allowed {tool}. They replace {tools} in set, for a program that reads permissions from a variable.", value: shape{kind: aLine}},
		{name: "probe", about: "A command that prints its version, and costs nothing.", value: words},
		{name: "login", about: "The command to log in.", value: shape{kind: aLine}},
		{name: "logged-in", about: "A command that exits 0 when it is logged in, and costs nothing.", value: words},
		{name: "unattended", about: "What it may do unattended when nothing is allowed, in words.", value: shape{kind: aLine}},
		{name: "permit", about: "How an entry of `allow` permits it to run {command} with any arguments.", value: shape{kind: aLine}},
		{name: "tested", about: "Versions that this card was tried with.", value: listOf(shape{kind: aText})},
	},
}

// CardSchema returns the JSON Schema (draft-07) of agent cards, with the same promise as ConfigSchema.
func CardSchema() []byte { return writeSchema(cardObject, CardSchemaFile, "wfs agent") }

// ParseCard reads and checks an agent card. file names the text in findings. Findings are everything that is wrong, in
// the order of lines; the card is nil if there is one.
func ParseCard(file string, text []byte) (*Card, []Finding) {
	r := &reader{file: file}
	var c *Card
	if root := r.load(text); root != nil && r.version(root) {
		c = r.card(root)
	}
	if len(r.findings) > 0 {
		sortFindings(r.findings)
		return nil, r.findings
	}
	return c, nil
}

func (r *reader) card(root *node) *Card {
	c := &Card{Prompt: PromptStdin, Decoder: "text", File: r.file}
	f, ok := r.fields(root, "", cardObject)
	if !ok {
		return c
	}
	c.Name = r.name(r.need(f, root, "", "name", "the name that agent: takes"), "name")
	if base := strings.TrimSuffix(strings.TrimSuffix(path.Base(strings.ReplaceAll(r.file, `\`, "/")), ".yaml"), ".yml"); c.Name != "" && base != c.Name {
		r.fail(f["name"].line, "name %s is not the name of the file", quote(c.Name))
		r.hint("call the file %s.yaml", clip(c.Name))
	}
	c.About = r.line(f["about"], "about")
	command := r.need(f, root, "", "command", "[the program, and, its words]")
	if c.Files = r.texts(f["files"]); c.Files != nil {
		c.Command = r.words(command, "command", "{files}")
	} else {
		c.Command = r.words(command, "command")
	}
	if p := r.word(f["prompt"], "prompt", string(PromptStdin), string(PromptArgument)); p != "" {
		c.Prompt = Prompt(p)
	}
	if d := r.word(f["decoder"], "decoder", decoderNames...); d != "" {
		c.Decoder = d
	}
	filled := func(key string, names ...string) []string { return r.words(f[key], key, names...) }
	c.New, c.Resume, c.Model = filled("new", "{id}"), filled("resume", "{id}"), filled("model", "{model}")
	c.Budget, c.Turns, c.Allow = filled("budget", "{usd}"), filled("turns", "{turns}"), filled("allow", "{tools}")
	c.Answer = filled("answer", "{schema}", "{schema-file}")
	if f["new"] != nil && f["resume"] == nil {
		r.fail(f["new"].line, "new names a conversation, but there is no resume to continue it")
	}
	c.Interrupt = r.truth(f["interrupt"], "interrupt")
	for _, item := range r.items(f["loads"], "loads", "names of files") {
		if name := r.line(item, "loads"); name != "" {
			c.Loads = append(c.Loads, name)
		}
	}
	c.Env = r.variables(f["env"])
	c.Set = r.set(f["set"])
	if c.Each = r.line(f["each"], "each"); c.Each != "" {
		r.checkPlaces(f["each"], "each", []string{c.Each}, "{tool}")
		if !slices.ContainsFunc(slices.Collect(maps.Values(c.Set)), func(v string) bool { return strings.Contains(v, "{tools}") }) {
			r.fail(f["each"].line, "each is filled into {tools} of set, and there is none")
		}
	}
	c.Probe, c.LoggedIn = r.words(f["probe"], "probe"), r.words(f["logged-in"], "logged-in")
	c.Login, c.Unattended = r.line(f["login"], "login"), r.line(f["unattended"], "unattended")
	if c.Permit = r.line(f["permit"], "permit"); c.Permit != "" {
		r.checkPlaces(f["permit"], "permit", []string{c.Permit}, "{command}")
		if !c.Permits() {
			r.fail(f["permit"].line, "permit is a word of allow, and there is neither allow nor each")
		}
	}
	for _, item := range r.items(f["tested"], "tested", "versions") {
		if v := r.line(item, "tested"); v != "" {
			c.Tested = append(c.Tested, v)
		}
	}
	return c
}

// words reads words of a command line. With names, one of these places must be among them; no others may be.
func (r *reader) words(n *node, what string, names ...string) []string {
	var out []string
	for _, item := range r.items(n, what, "words") {
		if item.kind == scalar && item.tag == "!!str" && item.text == "" && len(out) > 0 {
			out = append(out, "")
		} else if w := r.text(item, what); w != "" {
			out = append(out, w)
		}
	}
	if n != nil && n.kind == list && len(out) == len(n.items) {
		r.checkPlaces(n, what, out, names...)
	}
	return out
}

var place = regexp.MustCompile(`\{[a-z-]+\}`)

// checkPlaces reports places in words that nothing fills in, and that the one which is needed is missing.
func (r *reader) checkPlaces(n *node, what string, all []string, names ...string) {
	found := ""
	for _, w := range all {
		for _, p := range place.FindAllString(w, -1) {
			switch {
			case !slices.Contains(names, p):
				r.fail(n.line, "%s: %s is filled in by nothing there", what, p)
				if len(names) > 0 {
					r.hint("write %s", strings.Join(names, " or "))
				}
				return
			case found != "" && found != p:
				r.fail(n.line, "%s holds both %s and %s: one of them", what, found, p)
				return
			}
			found = p
		}
	}
	if len(names) > 0 && found == "" {
		r.fail(n.line, "%s has no word with %s", what, strings.Join(names, " or "))
	}
}

// variables reads names of variables, and NAME_* for all that begin so.
func (r *reader) variables(n *node) []string {
	var names []string
	for _, item := range r.items(n, "env", "names of variables") {
		name := r.text(item, "env")
		stem := strings.TrimSuffix(name, "*")
		switch {
		case name == "":
		case !isVariable(stem):
			r.fail(item.line, "env: %s is not a variable name", quote(name))
			r.hint("a name, or the beginning of names with * behind it: AWS_*")
		case strings.HasPrefix(strings.ToUpper(stem), "WFS_"):
			r.fail(item.line, "env: %s belongs to wfs, which sets it by itself", quote(name))
		case slices.Contains(names, name):
			r.fail(item.line, "env: %s is duplicated", quote(name))
		default:
			names = append(names, name)
		}
	}
	return names
}

// texts reads the texts of files by their names.
func (r *reader) texts(n *node) map[string]string {
	if n == nil {
		return nil
	}
	if n.kind != mapping || len(n.entries) == 0 {
		r.wrong(n, "files", "a mapping of names of files to texts")
		return nil
	}
	values := map[string]string{}
	for _, e := range r.entries(n, "files: ") {
		if !fileName.MatchString(e.key.text) {
			r.fail(e.key.line, "files: %s is not a file name", quote(e.key.text))
			continue
		}
		values[e.key.text] = r.text(e.value, "files: "+e.key.text)
	}
	return values
}

var fileName = regexp.MustCompile(filePattern)

// set reads variables with their values.
func (r *reader) set(n *node) map[string]string {
	if n == nil {
		return nil
	}
	if n.kind != mapping {
		r.wrong(n, "set", "a mapping of names to values")
		return nil
	}
	if len(n.entries) == 0 {
		r.fail(n.line, "set is empty")
	}
	values := map[string]string{}
	for _, e := range r.entries(n, "set: ") {
		switch name := e.key.text; {
		case !isVariable(name):
			r.fail(e.key.line, "set: %s is not a variable name", quote(name))
		case strings.HasPrefix(strings.ToUpper(name), "WFS_"):
			r.fail(e.key.line, "set: %s belongs to wfs, which sets it by itself", quote(name))
		default:
			values[name] = r.text(e.value, "set: "+name)
		}
	}
	return values
}
