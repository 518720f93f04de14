package phases

import (
	"cmp"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/session"
)

// A test for a new shape of something that exists (other arguments, another result, a public field) cannot be built
// before the code is written either. Compilers speak of types then, not of a name.

// misfits are what compilers say of types that do not fit: numbers of errors, the beginnings of Go's, and words of those
// of Java, Kotlin, Scala and Swift.
var misfits = sync.OnceValue(func() (r struct {
	codes         map[string]bool
	code          *regexp.Regexp
	inGo, inWords *regexp.Regexp
}) {
	r.code = regexp.MustCompile(`\b(?:E|TS|CS|FS|BC)\d+\b`)
	r.codes = map[string]bool{}
	for code := range strings.FieldsSeq(`E0004 E0023 E0026 E0027 E0049 E0050 E0053 E0057 E0061 E0063 E0107 E0185 E0186 E0195 E0220 E0271 E0277 E0308
		E0368 E0369 E0404 E0423 E0451 E0532 E0533 E0560 E0573 E0574 E0599 E0600 E0603 E0604 E0605 E0606 E0607 E0608 E0609 E0610 E0614 E0616 E0618 E0624
		TS2322 TS2341 TS2344 TS2345 TS2349 TS2351 TS2352 TS2353 TS2362 TS2363 TS2365 TS2367 TS2416 TS2420 TS2445 TS2459 TS2488 TS2493 TS2495 TS2511
		TS2515 TS2531 TS2532 TS2540 TS2554 TS2555 TS2558 TS2559 TS2571 TS2722 TS2739 TS2740 TS2741 TS2769 TS2794 TS18047 TS18048
		CS0019 CS0021 CS0029 CS0030 CS0115 CS0120 CS0122 CS0176 CS0200 CS0266 CS0272 CS0305 CS0308 CS0411 CS0535 CS1501 CS1502 CS1503 CS1579 CS1739
		CS1929 CS1955 CS7036 FS0001 FS0193 FS0501 BC30057 BC30311 BC30455 BC30512`) {
		r.codes[code] = true
	}
	r.inGo = regexp.MustCompile(`^(?:cannot use |not enough arguments in call to |too many arguments in call to |assignment mismatch: |` +
		`invalid operation: |invalid argument: |multiple-value |too many values in struct literal|` +
		`too few values in struct literal|cannot range over |cannot index |cannot convert |` +
		`too many type arguments|not enough type arguments|non-boolean condition in |cannot assign to |` +
		`in call to |cannot infer |impossible type |cannot call )|^[^\n]*(?: does not satisfy | \(no value\) used as value(?:\n|$))`)
	r.inWords = regexp.MustCompile(`cannot be applied to given types|incompatible types|no suitable method found|` +
		`no suitable constructor found|bad operand type|incomparable types|has private access in|` +
		`for-each not applicable|cannot be dereferenced|cannot be referenced from a static context|` +
		`does not override or implement a method|array required, but|is never thrown in body of|` +
		`is not abstract and does not override|wrong number of type arguments|ype mismatch|` +
		`oo many arguments for|No value passed for parameter|None of the following candidates|` +
		`Cannot access '|overrides nothing|not enough arguments for|Found:|cannot convert value of type|` +
		`missing argument for parameter|extra argument|incorrect argument label|is inaccessible due to`)
	return r
})

// misfit is what a compiler says in an error about a file, if it says that types do not fit; "" for every other error.
func misfit(file, message string) string {
	forms := misfits()
	first, _, _ := strings.Cut(message, "\n")
	switch path.Ext(file) {
	case ".go":
		if _, msg := goPosition(message); forms.inGo.MatchString(msg) {
			return safetext.Line(msg, maxMisfit)
		}
		return ""
	case ".ts", ".mts", ".cts", ".tsx":
		if errs := missingRE().typescript.FindAllStringSubmatch(message, maxBroken); len(errs) > 0 {
			return safetext.Line(misfitInTypeScript(errs), maxMisfit)
		}
	case ".java", ".kt", ".kts", ".groovy", ".scala", ".swift":
		if !forms.inWords.MatchString(first) {
			return ""
		}
		return safetext.Line(first, maxMisfit)
	case ".rs", ".cs", ".fs", ".vb":
	default:
		return ""
	}
	if !forms.codes[forms.code.FindString(first)] {
		return ""
	}
	if _, label, ok := strings.Cut(message, "^ "); ok { // rustc's marks below the line
		label, _, _ = strings.Cut(label, "\n")
		first += ": " + label
	}
	return safetext.Line(strings.TrimPrefix(first, "error"), maxMisfit)
}

// misfitInTypeScript returns the first error about types, "" if one of them is neither that nor about a missing name.
func misfitInTypeScript(errs [][]string) (first string) {
	for _, e := range errs {
		switch {
		case misfits().codes[e[1]]:
			first = cmp.Or(first, e[2])
		case missingInTypeScript([][]string{e}) == "" && !followsInTypeScript(e[1]):
			return ""
		}
	}
	return first
}

// maxMisfit bounds how much of a compiler's error stands in a reason.
const maxMisfit = 160

// mistake says why no code of the project can mend an error in a test file, "" if some may.
func (l *lap) mistake(x breakage) string {
	file := x.File
	for _, c := range l.files.changes {
		if sameFile(c.Path, x.File) {
			file = c.Path
		}
	}
	switch {
	case strings.HasSuffix(file, ".rs"):
		if name := unlinkedCrate(x.Message); name != "" && !slices.Contains(strings.Split(file, "/"), "src") && !l.files.isCrate(file, name) {
			return name + " is not a crate of this one"
		}
		if text := l.files.now(file); x.Line > 0 && x.Line <= strings.Count(string(text[:testpaths.TestsFrom(file, text)]), "\n") {
			return "cannot be built"
		}
	case strings.HasSuffix(file, ".go") && x.Misfit != "" && l.ownTypes(file, string(x.Unit), x.Misfit):
		return "cannot be built: " + x.Misfit
	}
	return ""
}

// ownTypes reports whether an error of the Go compiler is about nothing that the project's code could change:
// constants, what other modules declare, and what test files do.
func (l *lap) ownTypes(file, unit, msg string) bool {
	m := goMisfitRE().FindStringSubmatch(msg)
	if m == nil {
		return false
	}
	if m[1]+m[2] != "" { // the test itself says which type a constant is to have
		return true
	}
	text := l.files.now(file)
	of, _, dotted := strings.Cut(m[3], ".")
	if !dotted {
		return l.files.inTestFile(path.Dir(file), of)
	}
	parsed, _ := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if parsed == nil {
		return false
	}
	module, _ := l.files.module(file)
	if module == "" {
		module = modulePrefix(unit, file)
	}
	for _, spec := range parsed.Imports {
		from, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(from)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == of {
			return module != "" && from != module && !strings.HasPrefix(from, module+"/")
		}
	}
	// The testing package is not ours to extend.
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(of) + ` (?:\*testing\.[A-Z]|testing\.TB\b)`).Match(text)
}

// goMisfitRE finds what an error is about: constants alone, or what is called.
var goMisfitRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\(untyped \w+ constant[^)]*\) as \w+ value in (variable declaration|return statement)|` +
		`\(mismatched types (untyped) \w+ and untyped|\b(?:argument to|call to) ([\w.]+)`)
})

// inTestFile reports whether a name is that of a function of a changed test file of a directory, in Go.
func (l *lapFiles) inTestFile(dir, name string) bool {
	declares := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?` + regexp.QuoteMeta(name) + `\b`)
	return slices.ContainsFunc(l.changes, func(c session.Change) bool {
		return path.Dir(c.Path) == dir && strings.HasSuffix(c.Path, "_test.go") && declares.Match(l.now(c.Path))
	})
}

// unlinkedCrate is the crate that an error of rustc misses, "" if it is another error.
func unlinkedCrate(message string) string {
	for _, before := range []string{"unlinked crate `", "undeclared crate or module `", "a missing crate `"} {
		if name, ok := between(message, before, "`"); ok {
			return name
		}
	}
	return ""
}

// isCrate reports whether a manifest above a file gives the crate this name. Without a manifest nobody can tell.
func (l *lapFiles) isCrate(file, name string) bool {
	found := false
	for _, dir := range above(file) {
		text := l.now(path.Join(dir, "Cargo.toml"))
		found = found || text != nil
		for _, m := range crateRE().FindAllSubmatch(text, -1) {
			if strings.ReplaceAll(string(m[1]), "-", "_") == name {
				return true
			}
		}
	}
	return !found
}

var crateRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*name\s*=\s*["']([^"']+)["']`) })
