package tamper

import (
	"slices"
	"strings"
)

// sources looks in the code that is handed over for what behaves differently under test.
func (c *comparison) sources() {
	had := map[string]int{}
	for _, f := range c.code {
		if f.before != nil {
			for _, m := range f.before.knows() {
				had[m.says]++
			}
		}
	}
	for _, f := range c.code {
		if f.after == nil {
			continue
		}
		for _, m := range f.after.knows() {
			if had[m.says]--; had[m.says] < 0 { // what only moved is no news
				c.found(Finding{Kind: m.kind, Path: f.path, Line: m.line, After: m.says, Grave: true})
			}
		}
		c.patches(f)
	}
}

// knows finds code that asks whether it is being tested, or that makes every comparison true.
func (p *parsed) knows() []mark {
	var out []mark
	exits := slices.ContainsFunc(p.toks, func(t token) bool {
		return t.kind == ident && (t.text == "Exit" || t.text == "_exit" || t.text == "exit" || t.text == "exit!")
	})
	asksForVariables, asksForArguments := p.mentions(surroundings...), p.mentions("Args", "Lookup", "CommandLine", "Executable", "flag")
	put := func(i, to int, kind Kind) {
		out = append(out, mark{kind: kind, says: shown(p.toks[max(0, i):min(len(p.toks), to)]), line: p.toks[max(0, i)].line})
	}
	for i, t := range p.toks {
		word := t.text
		switch {
		case t.kind == text && exits && (strings.Contains(word, "--- PASS") || strings.Contains(word, "=== RUN") || strings.Contains(word, "... ok") && strings.Contains(word, "test") || strings.Contains(word, "\"Action\":")) && !p.isLookedFor(i): // what a runner prints, and an end
			put(i, i+1, KnowsTested)
			continue
		case t.kind == text && asksForVariables && (ownVariable(word) || word == "PYTEST_CURRENT_TEST" || word == "JEST_WORKER_ID" || word == "VITEST" || word == "VITEST_WORKER_ID" || word == "NODE_TEST_CONTEXT" || word == "MOCHA_COLORS"),
			t.kind == ident && (word == "JEST_WORKER_ID" || word == "PYTEST_CURRENT_TEST" || word == "VITEST" || word == "NODE_TEST_CONTEXT" || ownVariable(word)) && p.is(i-1, "."):
			put(i-4, i+2, KnowsTested)
			continue
		}
		switch p.l.name {
		case "go":
			switch {
			case word == "Testing" && p.is(i-2, "testing") && p.is(i+1, "("):
				put(i-2, i+3, KnowsTested)
			case t.kind == text && asksForArguments && (strings.HasPrefix(word, "-test.") || strings.HasPrefix(word, "test.v") || word == "test." || word == ".test" && p.near(i-8, i, "Args", "Executable") || strings.HasPrefix(word, "test.run")):
				put(i-4, i+2, KnowsTested)
			case word == "Exit" && p.is(i-2, "os") && p.unitAt(i).name == "init":
				put(i-2, i+4, Exits)
			}
		case "python":
			switch {
			case t.kind == text && (word == "pytest" || word == "unittest" || word == "_pytest") && (p.is(i+1, "in") || p.is(i+1, "not") || p.is(i-2, "get") || p.is(i-1, "[")) && p.asksItself(i):
				put(i, i+5, KnowsTested)
			case t.kind == ident && (word == "_getframe" || word == "stack" && p.is(i-2, "inspect") || word == "currentframe" || word == "extract_stack") && p.is(i+1, "(") && p.asksForTests(i):
				put(i-2, i+3, KnowsTested)
			case word == "argv" && p.is(i-2, "sys") && slices.ContainsFunc(p.toks[max(0, i-6):min(len(p.toks), i+12)], namesRunner):
				put(i-2, i+10, KnowsTested)
			case word == "argv" && p.is(i-2, "sys") && p.is(i-3, "in") && p.isKind(i-4, text) && p.toks[i-4].text == "test":
				put(i-4, i+1, KnowsTested)
			case word == "__eq__" && p.is(i-1, "def") && p.alwaysTrue(p.unitAt(i)):
				put(i-1, i+2, Patched)
			}
		case "script":
			switch {
			case word == "NODE_ENV" && p.testEnv(i):
				put(i-4, i+4, KnowsTested)
			case t.kind == ident && word == "typeof" && i+1 < len(p.toks) && slices.Contains([]string{"jest", "describe", "it", "expect", "vi", "mocha"}, p.toks[i+1].text):
				put(i, i+4, KnowsTested)
			case word == "stack" && p.is(i-1, ".") && slices.ContainsFunc(p.toks[i:min(len(p.toks), i+8)], func(o token) bool { return o.kind == text && strings.Contains(strings.ToLower(o.text), "test") }):
				put(i-4, i+6, KnowsTested)
			case word == "argv" && p.is(i-2, "process") && slices.ContainsFunc(p.toks[i:min(len(p.toks), i+14)], func(o token) bool {
				return o.kind == text && (strings.Contains(o.text, "jest") || strings.Contains(o.text, "mocha") || strings.Contains(o.text, "vitest") || o.text == "--test")
			}):
				put(i-2, i+10, KnowsTested)
			}
		case "rust":
			if word == "cfg" && p.is(i+1, "!") && p.is(i+3, "test") || word == "cfg" && p.is(i+2, "not") && p.is(i+4, "test") {
				put(i, i+6, KnowsTested)
			}
		case "java":
			if t.kind == text && (strings.HasPrefix(word, "org.junit") || word == "junit" || strings.HasPrefix(word, "org.testng")) {
				put(i-4, i+2, KnowsTested)
			}
		case "ruby":
			if word == "defined?" && (p.is(i+1, "RSpec") || p.is(i+2, "RSpec") || p.is(i+1, "Minitest") || p.is(i+2, "Minitest")) || word == "test?" && p.is(i-2, "env") {
				put(i-4, i+3, KnowsTested)
			}
		case "csharp":
			if t.kind == text && (strings.Contains(strings.ToLower(word), "xunit") || strings.Contains(strings.ToLower(word), "nunit") || strings.Contains(word, "testhost")) {
				put(i-4, i+2, KnowsTested)
			}
		}
	}
	return out
}

// ownVariables are what wfs gives to those whom it starts.
var ownVariables = []string{"WFS_SESSION", "WFS_RUN_ID", "WFS_PHASE", "WFS_LAP", "WFS_ATTEMPT", "WFS_WORKFLOW", "WFS_WORKTREE", "WFS_MAIN_WORKTREE", "WFS_BRIEF", "WFS_RESULT", "WFS_REPORT",
	"WFS_DOCUMENTS", "WFS_AGENT", "WFS_GATE_RUN", "WFS_EVENT", "WFS_STATUS", "WFS_SUMMARY"}

func ownVariable(word string) bool {
	return slices.Contains(ownVariables, word)
}

// near reports whether one of some names stands between two tokens.
func (p *parsed) near(from, to int, names ...string) bool {
	return slices.ContainsFunc(p.toks[max(0, from):max(0, min(to, len(p.toks)))], func(t token) bool { return t.kind == ident && slices.Contains(names, t.text) })
}

// asksForTests reports whether the function of a token, which looks at who called it, has a word for tests.
func (p *parsed) asksForTests(i int) bool {
	from, to := max(0, i-40), min(len(p.toks), i+40)
	if u := p.unitAt(i); u.name != "" {
		from, to = u.from, u.to
	}
	return slices.ContainsFunc(p.toks[from:to], func(t token) bool {
		return t.kind == text && !t.lead && (strings.Contains(strings.ToLower(t.text), "test") || namesRunner(t))
	})
}

// namesRunner reports whether a text is what a program that runs Python's tests is called.
func namesRunner(t token) bool {
	word := t.text[strings.LastIndexByte(t.text, '/')+1:]
	return t.kind == text && (slices.Contains([]string{"pytest", "py.test", "unittest", "nose", "nose2", "tox"}, word) || strings.HasPrefix(word, "pytest") || strings.HasPrefix(word, "unittest"))
}

// testEnv reports whether NODE_ENV is compared with "test", for something else than starting to listen or to log.
func (p *parsed) testEnv(i int) bool {
	if p.logsLess(i) {
		return false
	}
	near := p.toks[i:min(len(p.toks), i+5)]
	at := slices.IndexFunc(near, func(t token) bool { return t.kind == text && t.text == "test" })
	if at < 0 && !(p.is(i-1, ".") && i > 6 && p.toks[max(0, i-6)].text == "test") {
		return false
	}
	differs := slices.ContainsFunc(near, func(t token) bool { return t.text == "!==" || t.text == "!=" })
	for _, t := range p.toks[i:min(len(p.toks), i+24)] {
		switch t.text {
		case "listen", "logger", "morgan", "console", "log", "start", "serve", "connect":
			if differs {
				return false
			}
		}
	}
	return true
}

// logsLess reports whether a comparison of NODE_ENV with "test" is the level of what is logged, among the options of a call,
// and nothing in the file asks for that level.
func (p *parsed) logsLess(i int) bool {
	key, from := i-6, i-4
	if key < 0 || !p.is(from, "process") || !p.is(from-1, ":") || !p.is(p.within[i], "{") || !p.is(i+1, "===") && !p.is(i+1, "!==") || i+7 >= len(p.toks) {
		return false
	}
	for at := p.within[i]; p.is(at, "{"); { // of an object in an object
		if at = p.within[at]; !p.is(at, "{") && !p.is(at, "(") {
			return false
		}
	}
	levels := []string{"silent", "off", "none", "fatal", "error", "warn", "warning", "info", "debug", "trace", "verbose"}
	if !slices.Contains([]string{"level", "logLevel", "loglevel"}, p.toks[key].text) || !p.is(i+3, "?") || !p.is(i+5, ":") ||
		!p.isKind(i+4, text) || !p.isKind(i+6, text) || !slices.Contains(levels, p.toks[i+4].text) || !slices.Contains(levels, p.toks[i+6].text) {
		return false
	}
	for at := range p.toks {
		if p.is(at, p.toks[key].text) && p.is(at-1, ".") || p.isKind(at, text) && p.isLookedFor(at) && slices.Contains(levels, p.toks[at].text) {
			return false
		}
	}
	return p.is(i+7, ",") || p.is(i+7, "}")
}

// alwaysTrue reports whether a function does nothing but return True.
func (p *parsed) alwaysTrue(u *unit) bool {
	for i := u.from; i < u.to; i++ {
		if p.is(i, "return") {
			return p.is(i+1, "True") && (i+2 >= u.to || p.isKind(i+2, newline)) && i+4 >= u.to
		}
	}
	return false
}
