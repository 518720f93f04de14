package phases

import (
	"strings"
)

// What says, in the words of compilers and loaders, that a name does not exist. A test may fail for such a name before
// the code is written. Everything else that keeps a test from being built (a syntax error, a wrong type, an argument too
// many, a dependency that is not installed) is a mistake in the test or in the environment.

// missingInGo returns the name that an error of the Go compiler or of the go command misses, "" if it is another error.
// module is the import path's part above the package, "" if unknown: a package outside of it is a dependency.
func missingInGo(msg, module string) string {
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok {
		return firstWord(name)
	}
	if name, ok := between(msg, "", " undefined (type "); ok && strings.Contains(msg, "has no field or method") {
		if typ, _ := between(msg, " undefined (type ", " has no"); strings.HasPrefix(strings.TrimLeft(typ, "*"), "testing.") {
			return "" // the testing package is not ours to extend
		}
		return name
	}
	if name, ok := between(msg, "unknown field ", " in struct literal"); ok {
		return name
	}
	if name, ok := between(msg, "(missing method ", ")"); ok {
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
		if name, ok := between(msg, form[0], form[1]); ok {
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
func modulePrefix(pkg, file string) string {
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
func missingInScript(text string) string {
	if name, ok := between(text, "does not provide an export named '", "'"); ok {
		if from, ok := between(text, "The requested module '", "'"); ok && !isLocal(from) {
			return ""
		}
		return name
	}
	if name, ok := between(text, "Named export '", "' not found"); ok {
		return name
	}
	if strings.Contains(text, "SyntaxError") || strings.Contains(text, "IndentationError") {
		return ""
	}
	for _, form := range [][2]string{{"Cannot find module '", "'"}, {"Failed to load url ", " "}, {"Failed to resolve import \"", "\""}} {
		if name, ok := between(text, form[0], form[1]); ok {
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
		if name, ok := between(text, form[0], form[1]); ok && len(name) < maxTestName && !strings.Contains(name, "\n") {
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
func between(s, before, after string) (string, bool) {
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
