package tamper

import (
	"slices"
	"strings"
)

// A program that is about tests has words for them, too: a tool that looks for pytest in a list of packages, or that reads
// what runners print. Such a word says that code asks whether it is being tested where it has something to ask: the
// process that it is, its arguments, its variables, who called it.

// surroundings are what code of any language asks for its variables.
var surroundings = []string{"env", "environ", "environb", "getenv", "Getenv", "LookupEnv", "Environ", "ENV", "getEnv", "GetEnvironmentVariable", "Environment", "_ENV", "_SERVER"}

// process is what code in Python asks where it runs.
var process = []string{"sys", "modules", "globals", "argv", "environ", "environb", "getenv", "inspect", "traceback", "__main__", "__builtins__", "psutil", "cmdline", "import_module", "find_spec"}

// mentions reports whether a file has one of some names, or reads what the system knows of its process.
func (p *parsed) mentions(names ...string) bool {
	return slices.ContainsFunc(p.toks, func(t token) bool {
		return t.kind == ident && slices.Contains(names, t.text) || t.kind == text && strings.HasPrefix(t.text, "/proc/")
	})
}

// asksItself reports whether the statement of a token in Python, which has a word for tests, asks where the program runs:
// by itself, or by a name that got its value from there. Whoever looks at what is loaded anywhere in the file may ask that
// in any way.
func (p *parsed) asksItself(i int) bool {
	statement := func(i int) []token {
		from, to := p.lineStart(i), i
		for to < len(p.toks) && p.toks[to].kind != newline {
			to++
		}
		return p.toks[from:to]
	}
	asks := func(t token) bool {
		return t.kind == ident && slices.Contains(process, t.text) || t.kind == text && strings.HasPrefix(t.text, "/proc/")
	}
	if p.mentions("modules", "globals", "inspect", "traceback", "__builtins__", "cmdline", "orig_argv") {
		return true
	}
	here := statement(i)
	if slices.ContainsFunc(here, asks) {
		return true
	}
	for at, t := range p.toks {
		if p.assigns(at) && slices.ContainsFunc(here, func(h token) bool { return h.kind == ident && h.text == t.text }) && slices.ContainsFunc(statement(at), asks) {
			return true
		}
	}
	return false
}

// isLookedFor reports whether a text is what other text is searched for or compared with, and not what is printed.
func (p *parsed) isLookedFor(i int) bool {
	if p.is(i-1, "==") || p.is(i-1, "===") || p.is(i-1, "!=") || p.is(i-1, "!==") || p.is(i-1, "case") || p.is(i+1, "==") || p.is(i+1, "===") || p.is(i+1, "!=") || p.is(i+1, "!==") || p.is(i+1, "in") {
		return true
	}
	at := p.within[i]
	return p.is(at, "(") && p.near(at-1, at, "HasPrefix", "HasSuffix", "Contains", "Index", "LastIndex", "TrimPrefix", "TrimSuffix", "CutPrefix", "CutSuffix", "Cut", "Count", "Split", "SplitN",
		"MustCompile", "MatchString", "startswith", "endswith", "removeprefix", "find", "index", "split", "partition", "compile", "match", "search", "fullmatch", "findall", "finditer",
		"startsWith", "endsWith", "includes", "indexOf", "RegExp", "starts_with", "strip_prefix", "contains")
}
