package report

import (
	"regexp"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// What says, in the words of compilers and loaders, that a name does not exist. A test may fail for such a name before
// the code is written, and for types that do not fit yet (see misfit). Everything else that keeps a test from being
// built (a syntax error, a dependency that is not installed) is a mistake in the test or in the environment.

// missingInGo returns the name that an error of the Go compiler or of the go command misses, "" if it is another error.
// module is the import path's part above the package, "" if unknown: a package outside of it is a dependency.
func missingInGo(msg, module string) string {
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok {
		return firstWord(name)
	}
	if name, ok := Between(msg, "", " undefined (type "); ok && strings.Contains(msg, "has no field or method") {
		if typ, _ := Between(msg, " undefined (type ", " has no"); strings.HasPrefix(strings.TrimLeft(typ, "*"), "testing.") {
			return "" // the testing package is not ours to extend
		}
		return name
	}
	if name, ok := Between(msg, "unknown field ", " in struct literal"); ok {
		return name
	}
	if name, ok := Between(msg, "(missing method ", ")"); ok {
		return name
	}
	if _, name, ok := strings.Cut(msg, "refers to unknown identifier: "); ok { // go vet, of an example
		return firstWord(name)
	}
	var pkg string
	for _, form := range [][2]string{
		{"no required module provides package ", ";"}, {"no required module provides package ", ":"},
		{"package ", " is not in std"}, {"package ", " is not in GOROOT"}, {"cannot find package \"", "\""},
		{"does not contain package ", ""}, {"cannot find module providing package ", ""}, {"module ", ": reading "},
	} {
		if name, ok := Between(msg, form[0], form[1]); ok {
			pkg = firstWord(name)
			break
		}
	}
	if pkg != "" && module != "" && strings.HasPrefix(pkg, module+"/") {
		return pkg
	}
	return ""
}

// modulePrefix is the import path of the directory that the printed file name is relative to: the module's, or that of a
// directory in it.
func ModulePrefix(pkg, file string) string {
	dir := ""
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		dir = file[:i]
	}
	for dir != "" {
		if prefix, ok := strings.CutSuffix(pkg, "/"+dir); ok {
			return prefix
		}
		_, rest, ok := strings.Cut(dir, "/")
		if !ok {
			return ""
		}
		dir = rest
	}
	if file == "" {
		return ""
	}
	return pkg
}

// missingInScript does the same for what Node, Python and their test runners print when a file cannot be loaded.
func MissingInScript(text string) string {
	if errs := missingRE().typescript.FindAllStringSubmatch(text, maxBroken); len(errs) > 0 {
		return missingInTypeScript(errs)
	}
	if name, ok := Between(text, "does not provide an export named '", "'"); ok {
		if from, ok := Between(text, "The requested module '", "'"); ok && !isLocal(from) {
			return ""
		}
		return name
	}
	if name, ok := Between(text, "Named export '", "' not found"); ok {
		return name
	}
	if strings.Contains(text, "SyntaxError") || strings.Contains(text, "IndentationError") {
		return ""
	}
	for _, form := range [][2]string{{"Cannot find module '", "'"}, {"Failed to load url ", " "}, {"Failed to resolve import \"", "\""}} {
		if name, ok := Between(text, form[0], form[1]); ok {
			if !isLocal(name) {
				return ""
			}
			return name
		}
	}
	if strings.Contains(text, "Cannot find package") {
		return ""
	}
	for _, form := range [][2]string{
		{"ImportError: cannot import name '", "'"}, {"ModuleNotFoundError: No module named '", "'"},
		{"NameError: name '", "' is not defined"}, {"has no attribute '", "'"},
		{"ReferenceError: ", " is not defined"}, {"ReferenceError [Error]: ", " is not defined"},
		{"TypeError: ", " is not a function"}, {"TypeError: ", " is not a constructor"}, {"TypeError [Error]: ", " is not a function"},
	} {
		if name, ok := Between(text, form[0], form[1]); ok && len(name) < MaxName && !strings.Contains(name, "\n") {
			return name
		}
	}
	return ""
}

// isLocal reports whether a module specifier names a file rather than a package.
func isLocal(specifier string) bool {
	return strings.HasPrefix(specifier, ".") || strings.HasPrefix(specifier, "/") || strings.HasPrefix(specifier, "file:") ||
		strings.HasPrefix(specifier, "@/") || strings.HasPrefix(specifier, "~/") || strings.HasPrefix(specifier, "#") ||
		len(specifier) > 2 && specifier[1] == ':'
}

// between returns what stands between the first before and the next after it; an empty after is the text's end.
func Between(s, before, after string) (string, bool) {
	i := strings.Index(s, before)
	if i < 0 {
		return "", false
	}
	s = s[i+len(before):]
	if after == "" {
		return s, s != ""
	}
	i = strings.Index(s, after)
	if i <= 0 {
		return "", false
	}
	return s[:i], true
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	return strings.TrimRight(word, ";:,)")
}

// missingRE are the forms in which compilers and loaders of other languages say it. The first group that is not empty is
// the name.
var missingRE = sync.OnceValue(func() (r struct {
	rust, compiled, ruby []*regexp.Regexp
	typescript           *regexp.Regexp
}) {
	list := func(forms ...string) (out []*regexp.Regexp) {
		for _, f := range forms {
			out = append(out, regexp.MustCompile(f))
		}
		return out
	}
	r.typescript = regexp.MustCompile(`\berror (TS\d+): (.*)`)
	r.rust = list(
		"^cannot find (?:function|value|type|trait|struct, variant or union type|struct|macro|tuple struct/variant|tuple variant|unit struct|attribute|derive macro|associated function|associated type|method|module or crate|\\w+)(?:, \\w+)* `([^`]+)` in ",
		"^(?:unresolved imports?|failed to resolve: (?:use of unresolved module or unlinked crate|use of undeclared (?:type|crate or module|module)|could not find)|cannot find)[ `]*([^`,]+)`",
		"^no (?:function or associated item|method|associated item|variant or associated item|variant|associated function or constant|variant, associated function, or constant) named `([^`]+)` found",
		"^no field `([^`]+)` on type", "has no field named `([^`]+)`$", "^file not found for module `([^`]+)`",
		"^could not find `([^`]+)` in ", "^not all trait items implemented, missing: `([^`]+)`", "^no `([^`]+)` (?:external|in) ",
		"^method `([^`]+)` is not a member of trait", "^type `([^`]+)` is not a member of trait")
	r.compiled = list(
		`package ([\w.]+) does not exist`, `(?:object|value|type) (\w+) is not a member of`, `not found: (?:value|type|object) (\w+)`, // javac, scalac
		"(?i)unresolved reference:? '?`?(\\w+)",            // kotlinc
		`unable to resolve class ([\w.]+)`,                 // groovyc
		`does not contain a definition for '([^']+)'`,      // CS0117, CS1061
		`The name '([^']+)' does not exist in the current`, // CS0103
		`The type or namespace name '([^']+)'`,             // CS0246, CS0234
		`The (?:value|type|namespace|constructor|field|object constructor|record label)[\w, ]* '([^']+)' is not defined`, // FS0039
		`Cannot find name '([^']+)'`, `has no exported member (?:named )?'([^']+)'`, `Property '([^']+)' does not exist on type`,
		`Cannot find module '((?:\.|/)[^']*)'`, `does not exist in type '[^']*'.*'([^']+)'`, // TS2304, TS2305, TS2339, TS2307
		`(?:Class|Interface|Trait|Enum) "([^"]+)" not found`, `Call to undefined (?:function|method) ([\w\\:]+)\(`,
		`Undefined constant "?([\w\\:]+)`, `Failed opening required '([^']+)'`, // php
		`cannot find (?:type )?'([^']+)' in scope`, `has no member '([^']+)'`) // swift
	r.ruby = list("cannot load such file -- (\\S+)", "uninitialized constant ([\\w:]+)",
		"undefined (?:local variable or )?method [`'](\\S+?)'", "undefined local variable or method [`'](\\S+?)'")
	return r
})

// missingInTypeScript returns the first name that one of the compiler's errors misses, "" if one of them says something
// else. A parameter without a type follows from a function that is missing.
func missingInTypeScript(errs [][]string) string {
	first := ""
	for _, e := range errs {
		name := missingInCompiled(e[2])
		switch {
		case name == "" && !followsInTypeScript(e[1]):
			return ""
		case first == "":
			first = name
		}
	}
	return first
}

func followsInTypeScript(code string) bool {
	return code == "TS7006" || code == "TS7031" || code == "TS7005" || code == "TS18046"
}

func firstName(forms []*regexp.Regexp, text string) string {
	for _, re := range forms {
		if m := re.FindStringSubmatch(text); m != nil && len(m[1]) < MaxName {
			return m[1]
		}
	}
	return ""
}

// missingInRust does the same for errors of rustc, without their code.
func missingInRust(msg string) string { return firstName(missingRE().rust, msg) }

// missingInCompiled does it for compilers of the JVM, of .NET and of TypeScript, and for PHP. javac's "cannot find symbol"
// is not among them: it names the symbol on another line.
func missingInCompiled(msg string) string { return firstName(missingRE().compiled, msg) }

// missingInRuby does it for Ruby, while files are loaded and while tests run.
func missingInRuby(text string) string { return firstName(missingRE().ruby, text) }

// symbolOf is the name in javac's "method sub(int,int)", "class Calc", "variable x of type Calc".
func symbolOf(text string) string {
	words := strings.Fields(text)
	if len(words) < 2 {
		return ""
	}
	name, _, _ := strings.Cut(words[1], "(")
	return name
}

// lacking is the module or program that is not there, by what was printed, "" when nothing says so.
func Lacking(said string) string {
	m := lackingRE.FindStringSubmatch(said)
	if m == nil {
		return ""
	}
	return safetext.Line(m[1]+m[2]+m[3], 100)
}

// lackingRE are the words of Python, Node and shells.
var lackingRE = regexp.MustCompile(`(?m)No module named '?([\w.]+)|Cannot find (?:module|package) '([\w@][^'\n]*)'|` +
	`^(?:\S*/)?(?:ba|da|k|z)?sh: (?:(?:line )?\d+: )?([^\s:]+): (?:command not found|not found|No such file)`)
