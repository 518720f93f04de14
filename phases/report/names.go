package report

import (
	"path"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// testName makes a name fit for an id: printable, on one line, bounded. It may be kept: it shares no memory with what was printed.
func testName(s string) string {
	return excerpt(strings.Clone(safetext.Line(s, 0)), MaxName)
}

// A Go id is "import/path.TestName/sub". goTest splits it; pkg is "" for ids of other runners and of whole packages.
func SplitGo(id session.TestID) (pkg, name string) {
	s := string(id)
	best := -1
	for _, kind := range []string{".Test", ".Fuzz", ".Example", ".Benchmark"} {
		if i := strings.Index(s, kind); i >= 0 && (best < 0 || i < best) {
			best = i
		}
	}
	if best < 0 || strings.Contains(s, "::") {
		return "", ""
	}
	return s[:best], s[best+1:]
}

// leaf is the name that a test is declared by: the function of a Go test, without subtests; otherwise what follows the
// suites, without the parameters of pytest.
func Leaf(id session.TestID) string {
	if _, name := SplitGo(id); name != "" {
		top, _, _ := strings.Cut(name, "/")
		return top
	}
	s := string(id)
	if i := strings.LastIndex(s, "::"); i >= 0 {
		s = s[i+2:]
	}
	for _, sep := range []string{SuiteSep, " › "} { // AVA's, which leaves the file's name out while there is one file
		if _, after := beforeLast(s, sep); after != "" {
			s = after
		}
	}
	s = Bare(s)
	if class, _, ok := strings.Cut(string(id), "::"); ok {
		s, _, _ = strings.Cut(s, " with data set ") // PHPUnit's table
		if word := method(class, s); word != "" {
			return word
		}
	}
	return s
}

// method is the name in "adds()", "many(int)" of the JVM and "Adds(a: 1)" of .NET, "" for everything else.
func method(class, name string) string {
	word, _, ok := strings.Cut(name, "(")
	if !ok || !strings.HasSuffix(name, ")") || !isWord(word) || strings.Contains(class, "/") || IsScript(class) {
		return ""
	}
	return word
}

// bare takes pytest's parameters and the number of a duplicate from a name.
func Bare(s string) string {
	if i := strings.LastIndexByte(s, '#'); i > 0 && strings.Trim(s[i+1:], "0123456789") == "" {
		s = s[:i]
	}
	if i := strings.IndexByte(s, '['); i > 0 && strings.HasSuffix(s, "]") {
		s = s[:i]
	}
	return s
}

// parent is the test that a subtest belongs to: one that may lose and rename subtests while it passes itself. "" for
// tests of their own.
func Parent(id session.TestID) session.TestID {
	if pkg, name := SplitGo(id); pkg != "" {
		if i := strings.LastIndexByte(name, '/'); i > 0 {
			return session.TestID(pkg + "." + name[:i])
		}
		return ""
	}
	s := string(id)
	if p := Bare(s); p != s && strings.HasSuffix(s, "]") {
		return session.TestID(p)
	}
	if p, _, ok := strings.Cut(s, " with data set "); ok { // PHPUnit
		return session.TestID(p)
	}
	class, name, ok := strings.Cut(s, "::")
	if p, number := beforeLast(s, "::case_"); ok && number != "" && number[0] >= '0' && number[0] <= '9' { // rstest
		return session.TestID(p)
	}
	if p := method(class, name); ok && p != "" {
		return session.TestID(class + "::" + p)
	}
	return ""
}

// beforeLast cuts at the last separator; "" and "" when there is none.
func beforeLast(s, sep string) (before, after string) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):]
	}
	return "", ""
}

// isWord reports whether a text could be the name of a method.
func isWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && r < 0x80 && !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	}) < 0
}

// under reports whether a test belongs to a unit: a Go package, a Python module, a test file.
func Under(id, unit session.TestID) bool {
	if pkg, _ := SplitGo(id); pkg != "" {
		return pkg == string(unit)
	}
	rest, ok := strings.CutPrefix(string(id), string(unit))
	return ok && rest != "" && (strings.HasPrefix(rest, "::") || rest[0] == '.')
}

// sameFile reports whether the path that a tool printed, relative to wherever it ran, is this path of the work tree.
func SameFile(inTree, printed string) bool {
	printed = path.Clean(strings.ReplaceAll(printed, `\`, "/"))
	return printed != "." && (inTree == printed || strings.HasSuffix(inTree, "/"+printed) || strings.HasSuffix(printed, "/"+inTree))
}
