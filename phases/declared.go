package phases

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// declaration is one named piece of a source file: a test, or (in Go) anything else at the top level.
type declaration struct {
	name  string
	alias string // the name that the test is shown by, if its mark says one
	body  string // without comments and layout, to tell whether it was changed
	test  bool
	suite bool // a method of a suite in Go: it runs as a subtest of the function that runs its suite
	empty bool // a test that cannot fail, because it calls nothing
}

// declarations finds what a file declares. For Go it is exact; for other languages it knows how tests are usually
// written and misses names that are computed.
func declarations(file string, src []byte) []declaration {
	switch path.Ext(file) {
	case ".go":
		return goDeclarations(src)
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return scriptDeclarations(string(src))
	case ".py":
		return pythonDeclarations(string(src))
	case ".rb":
		return rubyDeclarations(string(src))
	case ".rs":
		return rustDeclarations(string(src))
	case ".java", ".kt", ".kts", ".groovy", ".scala":
		return markedDeclarations(string(src), declaredRE().jvm)
	case ".cs", ".fs", ".vb":
		return markedDeclarations(string(src), declaredRE().dotnet)
	case ".php":
		return append(markedDeclarations(string(src), declaredRE().php), scriptDeclarations(string(src))...) // Pest's are like Jest's
	}
	return otherDeclarations(string(src))
}

// isTestFile reports whether a file holds tests, by the conventions of its language.
func isTestFile(file string) bool {
	base := path.Base(file)
	switch path.Ext(file) {
	case ".go":
		return strings.HasSuffix(base, "_test.go")
	case ".md", ".txt", ".json", ".yaml", ".yml", ".toml", ".lock", ".sum", ".mod":
		return false
	}
	lower := strings.ToLower(file)
	return strings.Contains(lower, "test") || strings.Contains(lower, "spec")
}

var declaredRE = sync.OnceValue(func() (r struct{ script, python, ruby, rust, rustMacro, rustMakes, rustNamed, jvm, dotnet, php, other, display, hole *regexp.Regexp }) {
	r.script = regexp.MustCompile("(?m)(?:^|[^\\w.])(?:(?:t|ctx|context)\\.)?(?:test|it|specify)((?:\\.\\w+)*)(?:\\s*<[^;()]*>)?(?:\\s*\\((?:[^()]|\\((?:[^()]|\\([^()]*\\))*\\))*\\)|\\s*`[^`]*`)?\\s*\\(\\s*(?:'((?:[^'\\\\\n]|\\\\.)*)'|\"((?:[^\"\\\\\n]|\\\\.)*)\"|`((?:[^`\\\\]|\\\\.)*)`)")
	r.python = regexp.MustCompile(`(?m)^([ \t]*)(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*\(`)
	r.rustMacro, r.rustMakes = regexp.MustCompile(rustMacro), regexp.MustCompile(rustMakes)
	r.rustNamed = regexp.MustCompile(rustNamed)
	r.ruby, r.rust, r.jvm = regexp.MustCompile(rubyTest), regexp.MustCompile(rustTest), regexp.MustCompile(jvmTest)
	r.dotnet, r.php, r.other = regexp.MustCompile(dotnetTest), regexp.MustCompile(phpTest), regexp.MustCompile(otherTest)
	r.hole = regexp.MustCompile(`\$\{(?:[^{}]|\{[^{}]*\})*\}|%%?[psdifjoc#$]|\$#?[\w.]+`)
	r.display = regexp.MustCompile(displayName)
	return r
})

// withWildcards puts "*" where a title is computed: ${x} and, for tests of a table, %s and $x.
func withWildcards(name string) string { return declaredRE().hole.ReplaceAllString(name, "*") }

// fits reports whether a name is the one that a declaration, maybe with wildcards, is about.
func fits(declared, name string) bool {
	if declared == name {
		return true
	}
	parts := strings.Split(declared, "*")
	if len(parts) == 1 || !strings.HasPrefix(name, parts[0]) {
		return false
	}
	name = name[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return strings.HasSuffix(name, last)
}

func pythonDeclarations(src string) []declaration {
	var out []declaration
	for _, m := range declaredRE().python.FindAllStringSubmatchIndex(src, -1) {
		indent := m[3] - m[2]
		body := withoutComments(pythonBlock(src[m[0]:], indent), "#")
		marks := pythonMarks(src[:m[0]], src[m[2]:m[3]])
		_, code, _ := strings.Cut(body, "\n")
		if colons := outside(body, ":"); len(colons) > 0 { // else a bracket in a string
			code = body[colons[0]+1:]
		}
		out = append(out, declaration{name: src[m[4]:m[5]], body: laidOut(marks + body), test: true,
			empty: !strings.Contains(code, "assert") && !strings.Contains(code, "(") && !strings.Contains(code, "raise")})
	}
	return out
}

// pythonMarks are the decorators that stand right above a definition, as far as each is on one line or closed at its
// indentation.
func pythonMarks(before, indent string) string {
	from := len(before)
	for from > 0 {
		start := strings.LastIndexByte(before[:from-1], '\n') + 1
		text := strings.TrimRight(before[start:from], " \t\r\n")
		rest, ok := strings.CutPrefix(text, indent)
		if !ok || rest == "" || rest[0] != '@' && rest[0] != ')' && rest[0] != ']' && rest[0] != ' ' && rest[0] != '\t' {
			break
		}
		from = start
	}
	block := before[from:]
	if i := strings.Index(block, indent+"@"); i >= 0 {
		return strings.Join(strings.Fields(block[i:]), " ") + " "
	}
	return ""
}

// pythonBlock is a definition and the lines that are indented deeper than it.
func pythonBlock(src string, indent int) string {
	end := 0
	for line := range strings.Lines(src) {
		text := strings.TrimLeft(line, " \t")
		if end > 0 && strings.TrimSpace(text) != "" && len(line)-len(text) <= indent && !strings.HasPrefix(text, ")") {
			break
		}
		end += len(line)
	}
	return src[:end]
}

// withoutComments drops what follows a mark at the start of a line or after a space, and /* … */ where the mark is //.
func withoutComments(src, mark string) string {
	var b strings.Builder
	for line := range strings.Lines(src) {
		for i := 0; ; {
			n := strings.Index(line[i:], mark)
			if n < 0 {
				b.WriteString(line)
				break
			}
			if i += n; i == 0 || line[i-1] == ' ' || line[i-1] == '\t' || line[i-1] == ';' {
				b.WriteString(line[:i] + "\n")
				break
			}
			i += len(mark)
		}
	}
	out := b.String()
	if mark != "//" {
		return out
	}
	for {
		from := strings.Index(out, "/*")
		if from < 0 {
			return out
		}
		to := strings.Index(out[from:], "*/")
		if to < 0 {
			return out[:from]
		}
		out = out[:from] + " " + out[from+to+2:]
	}
}
