package report

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows"
)

// This file has the messages of compilers and loaders about a name that is not defined. Before the code is written, a
// test may fail because of such a name, or because types do not fit yet (see misfit). Any other failure of a build,
// such as a syntax error or a missing dependency, is a mistake in the test or in the environment.

// forms is a list of regular expressions, tried in order. The first group of the first match is the missing name. If
// this group is empty, the message is not about a missing name.
type forms struct{ list func() []*regexp.Regexp }

func newForms(text string) *forms {
	return &forms{sync.OnceValue(func() (list []*regexp.Regexp) {
		// LOCAL stands for the beginning of a module specifier that names a file, not a package.
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

// unknownInGo matches messages of Go's compiler, of vet and of the go command about a missing name. It excludes names
// in the package testing, because the project cannot add them.
var unknownInGo = newForms(`
^undefined: ([^\s;:,)]+)
^\S+ undefined \(type \*?testing\..* has no field or method()
^(.*?) undefined \(type .* has no field or method
unknown field (.*?) in struct literal
\(missing method (.*?)\)
refers to unknown identifier: ([^\s;:,)]+)
`)

// goPackages matches messages about a missing package. A package of the project may still be written; any other one is
// a missing dependency.
var goPackages = newForms(`
no required module provides package ([^\s;:]+)[;:]
package (\S+) is not in (?:std|GOROOT)
cannot find package "([^"]+)"
does not contain package (\S+)
cannot find module providing package ([^\s;:,)]+)
module (\S+): reading 
`)

// missingInGo returns the missing name in a message; "" if there is none. module is the beginning of the import paths
// of the project's own packages, "" if unknown.
func missingInGo(msg, module string) string {
	if name := unknownInGo.find(msg); name != "" {
		return name
	}
	if pkg := goPackages.find(msg); module != "" && strings.HasPrefix(pkg, module+"/") {
		return pkg
	}
	return ""
}

// ModulePrefix returns the import path of the directory to which a file name in the output for a package is relative.
// This is the module's root or a directory in it. It returns "" if unknown.
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

// unknownInScripts matches messages of Node, Python and their test runners about a missing name.
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

// MissingInScript returns the name that is missing according to an error of Node, Python or TypeScript; "" if none is.
// The error may come from loading a file or from a failing test.
func MissingInScript(text string) string {
	if errs := typescriptErrors(text); len(errs) > 0 {
		return missingInTypeScript(errs)
	}
	return unknownInScripts.find(text)
}

// unknownInRust matches rustc's messages about a missing name. Their error codes must have been removed.
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

// unknownInCompiled matches messages of PHP and of compilers for the JVM, .NET, TypeScript and Swift about a missing
// name. javac's "cannot find symbol" is not among them, because the symbol is on another line.
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

// unknownInRuby matches Ruby's messages about a missing name, which it prints while it loads files or runs tests.
var unknownInRuby = newForms("cannot load such file -- (\\S+)\nuninitialized constant ([\\w:]+)\n" +
	"undefined (?:local variable or )?method [`'](\\S+?)'\nundefined local variable or method [`'](\\S+?)'")

var typescriptError = newForm(" TS", `\berror (TS\d+): (.*)`)

func typescriptErrors(text string) [][]string {
	return typescriptError.re().FindAllStringSubmatch(text, maxBroken)
}

// missingInTypeScript returns the first missing name in errors of the compiler. It returns "" if some error has
// another cause. Errors that follow from a missing function, such as a parameter without a type, do not count.
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

// lacking matches messages of Python, Node and shells about missing modules and programs.
var lacking = newForms(`
No module named '?([\w.]+)
Cannot find (?:module|package) '([\w@][^'\n]*)'
(?m)^(?:\S*/)?(?:ba|da|k|z)?sh: (?:(?:line )?\d+: )?([^\s:]+): (?:command not found|not found|No such file)
`)

// Lacking returns the first module or program that is missing according to the output; "" if there is none.
func Lacking(printed string) string { return safetext.Line(lacking.find(printed), 100) }

var (
	unlinkedCrate = newForms("unlinked crate `([^`]+)`\nundeclared crate or module `([^`]+)`\na missing crate `([^`]+)`")
	nodePackage   = newForms("Cannot find package '([^']+)'")
)

// UnlinkedCrate returns the crate that is missing according to an error of rustc; "" for any other error.
func UnlinkedCrate(message string) string { return unlinkedCrate.find(message) }

// NodePackage returns the package that is missing according to an error of Node; "" for any other error.
func NodePackage(message string) string { return nodePackage.find(message) }

// toolMissing matches messages of interpreters and package managers that the test runner is not installed.
var toolMissing = newForm("", `No module named (?:pytest|unittest)|npx canceled due to missing packages|could not determine executable to run|`+
	`bundler: command not found|Could not find command |error: no such command|ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL|Couldn't find the binary |`+
	`Could not open input file: vendor/bin|error: toolchain |No .NET SDKs were found|^sh: .*not found|^error Command ".*not found\.$`)

// ToolMissing reports whether a line of output says that the test runner is not installed. The exit code does not
// tell, because it is an ordinary one. The agent's code is not to blame for this failure.
func ToolMissing(line string) bool { return toolMissing.find(line) != nil }

// noTests matches messages of test runners that there is no test to run. The last one is Node's.
var noTests = newForm("", `No tests found|No test files found|no packages to test|(?m)^Could not find '`)

// SaysNoTests reports whether a run without results had no test to run. In this case go and node exit with 0, pytest
// and unittest exit with 5, and other runners print a message.
func SaysNoTests(f workflows.Format, exit int, printed string) bool {
	return exit == 0 || exit == 5 && (f == workflows.FormatJUnit || f == workflows.FormatUnittest) ||
		noTests.find(printed) != nil
}
