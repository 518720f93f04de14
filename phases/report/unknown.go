package report

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows"
)

// This file has the messages of compilers and loaders about a name that does not exist. Before the code is written, a
// test may fail for such a name, or for types that do not fit yet (see misfit). Any other build failure (a syntax
// error, a missing dependency) is a mistake in the test or in the environment.

// forms are regular expressions, one per line, tried in order. The group of the first match is the name; if it is
// empty, no name is missing.
type forms struct{ list func() []*regexp.Regexp }

func newForms(text string) *forms {
	return &forms{sync.OnceValue(func() (list []*regexp.Regexp) {
		// A module specifier that names a file rather than a package.
		text = strings.ReplaceAll(text, "LOCAL", `(?:[./#]|file:|[@~]/|.:)`)
		for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
			list = append(list, regexp.MustCompile(line))
		}
		return list
	})}
}

func (f *forms) find(text string) string {
	for _, re := range f.list() {
		if m := re.FindStringSubmatch(text); m != nil && len(m[1]) < MaxName {
			return m[1]
		}
	}
	return ""
}

// unknownInGo is for the compiler, vet and the go command. The project cannot extend the testing package.
var unknownInGo = newForms(`
^undefined: ([^\s;:,)]+)
^\S+ undefined \(type \*?testing\..* has no field or method()
^(.*?) undefined \(type .* has no field or method
unknown field (.*?) in struct literal
\(missing method (.*?)\)
refers to unknown identifier: ([^\s;:,)]+)
`)

// goPackages is for missing packages: the project's own may still be written, others are dependencies.
var goPackages = newForms(`
no required module provides package ([^\s;:]+)[;:]
package (\S+) is not in (?:std|GOROOT)
cannot find package "([^"]+)"
does not contain package (\S+)
cannot find module providing package ([^\s;:,)]+)
module (\S+): reading 
`)

// missingInGo returns the missing name. module is the part of the import path above the package, "" if unknown.
func missingInGo(msg, module string) string {
	if name := unknownInGo.find(msg); name != "" {
		return name
	}
	if pkg := goPackages.find(msg); module != "" && strings.HasPrefix(pkg, module+"/") {
		return pkg
	}
	return ""
}

// ModulePrefix returns the import path of the directory to which a printed file name is relative: the module, or a
// directory in it.
func ModulePrefix(pkg, file string) string {
	if file == "" {
		return ""
	}
	for dir, more := path.Dir(file), true; dir != "."; {
		if prefix, ok := strings.CutSuffix(pkg, "/"+dir); ok {
			return prefix
		}
		if _, dir, more = strings.Cut(dir, "/"); !more {
			return ""
		}
	}
	return pkg
}

// unknownInScripts is for Node, Python and their test runners.
var unknownInScripts = newForms(`
The requested module 'LOCAL[^']*' does not provide an export named '([^']+)'
does not provide an export named '()
Named export '([^']+)' not found
(?:Syntax|Indentation)Error()
Cannot find module '(LOCAL[^']*)'
Failed to load url (LOCAL\S*)
Failed to resolve import "(LOCAL[^"]*)"
(?:Cannot find (?:module '|package)|Failed to load url |Failed to resolve import )()
ImportError: cannot import name '([^'\n]+)'
ModuleNotFoundError: No module named '([^'\n]+)'
NameError: name '([^'\n]+)' is not defined
has no attribute '([^'\n]+)'
ReferenceError(?: \[Error\])?: ([^\n]+?) is not defined
TypeError(?: \[Error\])?: ([^\n]+?) is not a (?:function|constructor)
`)

// MissingInScript returns the name that is missing when a file of Node or Python cannot be loaded, or a test in
// it fails.
func MissingInScript(text string) string {
	if errs := typescriptErrors(text); len(errs) > 0 {
		return missingInTypeScript(errs)
	}
	return unknownInScripts.find(text)
}

// unknownInRust is for rustc, without its codes.
var unknownInRust = newForms("" +
	"^cannot find (?:function|value|type|trait|struct, variant or union type|struct|macro|tuple struct/variant|tuple variant" +
	"|unit struct|attribute|derive macro|associated function|associated type|method|module or crate|\\w+)(?:, \\w+)* `([^`]+)` in \n" +
	"^(?:unresolved imports?|failed to resolve: (?:use of unresolved module or unlinked crate|use of undeclared " +
	"(?:type|crate or module|module)|could not find)|cannot find)[ `]*([^`,]+)`\n" +
	"^no (?:function or associated item|method|associated item|variant or associated item|variant" +
	"|associated function or constant|variant, associated function, or constant) named `([^`]+)` found\n" +
	"^no field `([^`]+)` on type\n" +
	"has no field named `([^`]+)`$\n" +
	"^file not found for module `([^`]+)`\n" +
	"^could not find `([^`]+)` in \n" +
	"^not all trait items implemented, missing: `([^`]+)`\n" +
	"^no `([^`]+)` (?:external|in) \n" +
	"^(?:method|type) `([^`]+)` is not a member of trait")

// unknownInCompiled is for compilers of the JVM, of .NET, of TypeScript and of Swift, and for PHP. It lacks javac's
// "cannot find symbol", which names the symbol on another line.
var unknownInCompiled = newForms(`
package ([\w.]+) does not exist
(?:object|value|type) (\w+) is not a member of
not found: (?:value|type|object) (\w+)
` + "(?i)unresolved reference:? '?`?(\\w+)" + `
unable to resolve class ([\w.]+)
does not contain a definition for '([^']+)'
The name '([^']+)' does not exist in the current
The type or namespace name '([^']+)'
The (?:value|type|namespace|constructor|field|object constructor|record label)[\w, ]* '([^']+)' is not defined
Cannot find name '([^']+)'
has no exported member (?:named )?'([^']+)'
Property '([^']+)' does not exist on type
Cannot find module '((?:\.|/)[^']*)'
does not exist in type '[^']*'.*'([^']+)'
(?:Class|Interface|Trait|Enum) "([^"]+)" not found
Call to undefined (?:function|method) ([\w\\:]+)\(
Undefined constant "?([\w\\:]+)
Failed opening required '([^']+)'
cannot find (?:type )?'([^']+)' in scope
has no member '([^']+)'
`)

// unknownInRuby is for Ruby, while it loads files and while tests run.
var unknownInRuby = newForms("cannot load such file -- (\\S+)\nuninitialized constant ([\\w:]+)\n" +
	"undefined (?:local variable or )?method [`'](\\S+?)'\nundefined local variable or method [`'](\\S+?)'")

var typescriptError = newForm(" TS", `\berror (TS\d+): (.*)`)

func typescriptErrors(text string) [][]string {
	return typescriptError.re().FindAllStringSubmatch(text, maxBroken)
}

// missingInTypeScript returns the first missing name in the compiler's errors; "" if one has another cause. A
// parameter without a type is ignored: it follows from a missing function.
func missingInTypeScript(errs [][]string) (first string) {
	for _, e := range errs {
		name := unknownInCompiled.find(e[2])
		if name == "" && !followsInTypeScript(e[1]) {
			return ""
		}
		if first == "" {
			first = name
		}
	}
	return first
}

func followsInTypeScript(code string) bool {
	return code == "TS7006" || code == "TS7031" || code == "TS7005" || code == "TS18046"
}

// lacking is for missing modules and programs in Python, Node and shells.
var lacking = newForms(`
No module named '?([\w.]+)
Cannot find (?:module|package) '([\w@][^'\n]*)'
(?m)^(?:\S*/)?(?:ba|da|k|z)?sh: (?:(?:line )?\d+: )?([^\s:]+): (?:command not found|not found|No such file)
`)

// Lacking returns the module or program that is missing according to the output; "" if it names none.
func Lacking(printed string) string { return safetext.Line(lacking.find(printed), 100) }

var (
	unlinkedCrate = newForms("unlinked crate `([^`]+)`\nundeclared crate or module `([^`]+)`\na missing crate `([^`]+)`")
	nodePackage   = newForms("Cannot find package '([^']+)'")
)

// UnlinkedCrate returns the crate that an error of rustc misses; "" for another error.
func UnlinkedCrate(message string) string { return unlinkedCrate.find(message) }

// NodePackage returns the package that Node misses; "" for another error.
func NodePackage(message string) string { return nodePackage.find(message) }

// toolMissing matches messages of interpreters and package managers about a runner that is not installed.
var toolMissing = newForm("", `No module named (?:pytest|unittest)|npx canceled due to missing packages|could not determine executable to run|`+
	`bundler: command not found|Could not find command |error: no such command|ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL|Couldn't find the binary |`+
	`Could not open input file: vendor/bin|error: toolchain |No .NET SDKs were found|^sh: .*not found|^error Command ".*not found\.$`)

// ToolMissing reports whether a line says that the runner is not installed. Such programs end with ordinary exit
// codes, and an agent's code is not to blame.
func ToolMissing(line string) bool { return toolMissing.find(line) != nil }

// noTests matches messages of runners without a test to run. The last one is Node's.
var noTests = newForm("", `No tests found|No test files found|no packages to test|(?m)^Could not find '`)

// SaysNoTests reports whether a run without results had no test to run: go and node then exit with 0, pytest and
// unittest with 5, others print a message.
func SaysNoTests(f workflows.Format, exit int, printed string) bool {
	return exit == 0 || exit == 5 && (f == workflows.FormatJUnit || f == workflows.FormatUnittest) ||
		noTests.find(printed) != nil
}
