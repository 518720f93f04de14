package report

import (
	"cmp"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// A test may need a new interface of existing code: other arguments, another result, a public field. Such a test cannot
// be built before the code is written either, although no name is missing: the compiler reports a type error instead.

// misfits match compiler errors about types. For Go, javac, kotlinc, scalac and swiftc they match the text, for other
// compilers the number of the error.
var misfits = sync.OnceValue(func() (r struct{ golang, words, codes *regexp.Regexp }) {
	r.golang = regexp.MustCompile(
		`^(?:cannot use |not enough arguments in call to |too many arguments in call to |assignment mismatch: |` +
			`invalid operation: |invalid argument: |multiple-value |too many values in struct literal|too few values in struct literal|cannot range over |` +
			`cannot index |cannot convert |too many type arguments|not enough type arguments|non-boolean condition in |cannot assign to |in call to |` +
			`cannot infer |impossible type |cannot call |.* does not satisfy |.* \(no value\) used as value$)`)
	r.words = regexp.MustCompile(`cannot be applied to given types|incompatible types|no suitable method found|no suitable constructor found|` +
		`bad operand type|incomparable types|has private access in|for-each not applicable|cannot be dereferenced|` +
		`cannot be referenced from a static context|does not override or implement a method|array required, but|is never thrown in body of|` +
		`is not abstract and does not override|wrong number of type arguments|` +
		`ype mismatch|oo many arguments for|No value passed for parameter|None of the following candidates|Cannot access '|overrides nothing|` +
		`not enough arguments for|Found:|` +
		`cannot convert value of type|missing argument for parameter|extra argument|incorrect argument label|is inaccessible due to`)
	r.codes = regexp.MustCompile(`^(?:E(?:0004|0023|0026|0027|0049|0050|0053|0057|0061|0063|0107|0185|0186|0195|0220|0271|0277|0308|` +
		`0368|0369|0404|0423|0451|0532|0533|0560|0573|0574|0599|0600|0603|0604|0605|0606|0607|0608|0609|0610|0614|0616|0618|0624)|` +
		`TS(?:2322|2341|2344|2345|2349|2351|2352|2353|2362|2363|2365|2367|2416|2420|2445|2459|2488|2493|2495|2511|` +
		`2515|2531|2532|2540|2554|2555|2558|2559|2571|2722|2739|2740|2741|2769|2794|18047|18048)|` +
		`CS(?:0019|0021|0029|0030|0115|0120|0122|0176|0200|0266|0272|0305|0308|0411|0535|1501|1502|1503|1579|1739|1929|1955|7036)|` +
		`FS(?:0001|0193|0501)|BC(?:30057|30311|30455|30512))$`)
	return r
})

var errorCode = newForm("", `\b(?:E|TS|CS|FS|BC)\d+\b`)

// maxMisfit limits a compiler's message that becomes part of a reason, in characters.
const maxMisfit = 160

// misfit returns a compiler's message on one line if it is about types; "" for every other error.
func misfit(file, message string) string {
	first, _, _ := strings.Cut(message, "\n")
	switch path.Ext(file) {
	case ".go":
		_, msg := goPosition(message)
		if first, _, _ = strings.Cut(msg, "\n"); misfits().golang.MatchString(first) {
			return safetext.Line(msg, maxMisfit)
		}
	case ".java", ".kt", ".kts", ".groovy", ".scala", ".swift":
		if misfits().words.MatchString(first) {
			return safetext.Line(first, maxMisfit)
		}
	case ".ts", ".mts", ".cts", ".tsx", ".rs", ".cs", ".fs", ".vb":
		if errs := typescriptErrors(message); len(errs) > 0 {
			return safetext.Line(misfitInTypeScript(errs), maxMisfit)
		}
		if !misfits().codes.MatchString(errorCode.re().FindString(first)) {
			return ""
		}
		if _, label, ok := strings.Cut(message, "^ "); ok { // rustc explains the marked part of the source line
			label, _, _ = strings.Cut(label, "\n")
			first += ": " + label
		}
		return safetext.Line(strings.TrimPrefix(first, "error"), maxMisfit)
	}
	return ""
}

// misfitInTypeScript returns the first error about types. It returns "" if there is an error that is neither about
// types nor about a missing name.
func misfitInTypeScript(errs [][]string) (first string) {
	for _, e := range errs {
		switch {
		case misfits().codes.MatchString(e[1]):
			first = cmp.Or(first, e[2])
		case missingInTypeScript([][]string{e}) == "" && !followsInTypeScript(e[1]):
			return ""
		}
	}
	return first
}
