package report

import (
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// testName makes a name usable in an id: printable, on one line, and not too long. The result shares no memory with
// the output, so it may be kept.
func testName(s string) string {
	return excerpt(strings.Clone(safetext.Line(s, 0)), MaxName)
}

var (
	goID       = lazyregexp.New(`^([^:]*?)\.((?:Test|Fuzz|Example|Benchmark).*)$`)
	methodName = lazyregexp.New(`^((?:\w|[^\x00-\x7f])+)\(.*\)$`)
	bareName   = lazyregexp.New(`^(.+?)(?:\[.*\])?(?:#\d*)?$`)
	scriptName = lazyregexp.New(`^[^\n\t]*\.(?:[cm]?[jt]sx?|py)$`)
)

// SplitGo splits the id of a Go test, "import/path.TestName/sub", into package and name. Both are "" for ids of other
// runners and of whole packages.
func SplitGo(id session.TestID) (pkg, name string) {
	if m := goID.FindStringSubmatch(string(id)); m != nil && !strings.Contains(m[2], "::") {
		return m[1], m[2]
	}
	return "", ""
}

// Leaf returns the name by which a test is declared. For a Go test this is the function, without subtests. For other
// tests it is the part after the suites, without parameters.
func Leaf(id session.TestID) string {
	if _, name := SplitGo(id); name != "" {
		top, _, _ := strings.Cut(name, "/")
		return top
	}
	s := string(id)
	if i := strings.LastIndex(s, "::"); i >= 0 {
		s = s[i+2:]
	}
	for _, sep := range []string{SuiteSep, " › "} { // AVA's separator; ids of a single file have none
		if _, after := beforeLast(s, sep); after != "" {
			s = after
		}
	}
	s = Bare(s)
	if class, _, ok := strings.Cut(string(id), "::"); ok {
		s, _, _ = strings.Cut(s, " with data set ") // a row of PHPUnit's table
		if word := method(class, s); word != "" {
			return word
		}
	}
	return s
}

// method returns the name of the method in "adds()", "many(int)" (JVM) or "Adds(a: 1)" (.NET); "" if the name has no
// such form.
func method(class, name string) string {
	m := methodName.FindStringSubmatch(name)
	if m == nil || strings.Contains(class, "/") || IsScript(class) {
		return ""
	}
	return m[1]
}

// Bare removes from a name the parameters that pytest appends, and the number that distinguishes tests of the same
// name.
func Bare(s string) string {
	if m := bareName.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return s
}

// IsScript reports whether a name is that of a file in JavaScript, TypeScript or Python. Tests in these languages are
// loaded, not built.
func IsScript(name string) bool { return scriptName.MatchString(name) }

// Parent returns the test that a subtest or a row of a table belongs to; "" for all other tests. A parent that passes
// may have lost or renamed some of its subtests.
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

// beforeLast splits a text at the last separator. It returns "" and "" if there is none.
func beforeLast(s, sep string) (before, after string) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):]
	}
	return "", ""
}

// Under reports whether a test belongs to a unit by the beginning of its id. A unit is a Go package, a Python module
// or a test file.
func Under(id, unit session.TestID) bool {
	if pkg, _ := SplitGo(id); pkg != "" {
		return pkg == string(unit)
	}
	rest, ok := strings.CutPrefix(string(id), string(unit))
	return ok && rest != "" && (strings.HasPrefix(rest, "::") || rest[0] == '.')
}

// SameFile reports whether a path in the work tree may be the path that a tool printed. The tool's path may be
// absolute, or relative to any directory.
func SameFile(inTree, printed string) bool {
	printed = cleanPath(printed)
	return printed != "." && (inTree == printed || strings.HasSuffix(inTree, "/"+printed) ||
		strings.HasSuffix(printed, "/"+inTree))
}
