package report

import (
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// testName makes a name fit for an id: printable, on one line, bounded. It shares no memory with the output, and may
// be kept.
func testName(s string) string {
	return excerpt(strings.Clone(safetext.Line(s, 0)), MaxName)
}

var (
	goID       = lazyregexp.New(`^([^:]*?)\.((?:Test|Fuzz|Example|Benchmark).*)$`)
	methodName = lazyregexp.New(`^((?:\w|[^\x00-\x7f])+)\(.*\)$`)
	bareName   = lazyregexp.New(`^(.+?)(?:\[.*\])?(?:#\d*)?$`)
	scriptName = lazyregexp.New(`^[^\n\t]*\.(?:[cm]?[jt]sx?|py)$`)
)

// SplitGo splits a Go id, "import/path.TestName/sub". pkg is "" for ids of other runners and of whole packages.
func SplitGo(id session.TestID) (pkg, name string) {
	if m := goID.FindStringSubmatch(string(id)); m != nil && !strings.Contains(m[2], "::") {
		return m[1], m[2]
	}
	return "", ""
}

// Leaf returns the name in a test's declaration: the function of a Go test, without subtests; otherwise the part
// after the suites, without pytest's parameters.
func Leaf(id session.TestID) string {
	if _, name := SplitGo(id); name != "" {
		top, _, _ := strings.Cut(name, "/")
		return top
	}
	s := string(id)
	if i := strings.LastIndex(s, "::"); i >= 0 {
		s = s[i+2:]
	}
	for _, sep := range []string{SuiteSep, " › "} { // AVA's; it omits the file's name if there is only one
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

// method returns the name in "adds()", "many(int)" (JVM) and "Adds(a: 1)" (.NET); "" for everything else.
func method(class, name string) string {
	m := methodName.FindStringSubmatch(name)
	if m == nil || strings.Contains(class, "/") || IsScript(class) {
		return ""
	}
	return m[1]
}

// Bare removes pytest's parameters and the number of a duplicate from a name.
func Bare(s string) string {
	if m := bareName.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return s
}

// IsScript reports whether a name is a file in a language whose tests are loaded, not built.
func IsScript(name string) bool { return scriptName.MatchString(name) }

// Parent returns the test that a subtest belongs to; "" for top-level tests. A parent may lose and rename subtests
// while it passes itself.
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

// beforeLast cuts at the last separator; it returns "" and "" if there is none.
func beforeLast(s, sep string) (before, after string) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):]
	}
	return "", ""
}

// Under reports whether a test belongs to a unit: a Go package, a Python module, a test file.
func Under(id, unit session.TestID) bool {
	if pkg, _ := SplitGo(id); pkg != "" {
		return pkg == string(unit)
	}
	rest, ok := strings.CutPrefix(string(id), string(unit))
	return ok && rest != "" && (strings.HasPrefix(rest, "::") || rest[0] == '.')
}

// SameFile reports whether a path that a tool printed, relative to any directory, is this path of the work tree.
func SameFile(inTree, printed string) bool {
	printed = cleanPath(printed)
	return printed != "." && (inTree == printed || strings.HasSuffix(inTree, "/"+printed) ||
		strings.HasSuffix(printed, "/"+inTree))
}
