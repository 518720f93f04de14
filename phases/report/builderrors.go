package report

import (
	"io"
	"path"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/session"
)

// buildErrors listens to what is printed around a report for the errors of compilers. Where tests are compiled, the report
// of a build that failed is missing or has gaps, and only the compiler says why.
type buildErrors struct {
	at   Place
	list []Breakage
	more int // lines that may still belong to the last one

	node  string // where Node says that it is, "file:///top/a.js:1"
	loads []Breakage
	stack bool // "Require stack:" is being printed
}

func newBuildErrors(at Place) *buildErrors { return &buildErrors{at: at} }

// stream is a writer for one stream of the gate.
func (b *buildErrors) stream() io.Writer { return &lineFeed{to: b.line} }

// errorForms are how compilers print errors.
var errorForms = sync.OnceValue(func() []lineForm {
	return []lineForm{
		newLineForm(":[", `^(?:\[ERROR\] )?(\S.*?\.(?:java|kt|kts|groovy|scala)):\[\d+,\d+\] (?:error: )?(.*)$`),                        // Maven
		newLineForm(": error: ", `^(?:\[ERROR\] )?(\S.*?\.(?:java|groovy|scala)):\d+: error: (.*)$`),                                    // javac
		newLineForm("e: ", `^(?:\[ERROR\] )?e: (?:file://)?(\S.*?\.kts?):(?:\d+:\d+:?| \(\d+, \d+\):) (.*)$`),                           // kotlinc
		newLineForm(": error ", `^\s*(\S.*?\.(?:cs|fs|vb))\(\d+,\d+(?:,\d+,\d+)?\): error ((?:CS|FS|BC)\d+: .*?)(?: \[[^\]]*\])?$`),     // dotnet
		newLineForm(" error TS", `^(\S.*?\.[cm]?tsx?)(?:\(\d+,\d+\):|:\d+:\d+ -) error (TS\d+: .*)$`),                                   // tsc
		newLineForm("PHP ", `^PHP (?:Fatal|Parse) error: +(?:Uncaught )?(.*?) in (\S.*?\.php)(?:\(\d+\) : .*)?(?::\d+| on line \d+)?$`), // php, reason first
		newLineForm(": error: ", `^(\S.*?\.swift):\d+:\d+: error: (.*)$`),
	}
})

// mochaLoads is what Mocha prints before an error of a file that it loads.
const mochaLoads = "Exception during run: "

// maySayError is the quick look at a line that leaves few for a second one.
func maySayError(text string) bool {
	if strings.IndexByte(text, ':') < 0 { // all that is looked for has one
		return false
	}
	first := strings.TrimLeft(text, " ")
	for _, begins := range []string{"/", "file:///", mochaLoads, "e: ", "[ERROR]"} {
		if strings.HasPrefix(first, begins) {
			return true
		}
	}
	return strings.Contains(text, "rror") || strings.Contains(text, ":[")
}

func (b *buildErrors) line(text string) {
	if b.more == 0 && len(b.loads) == 0 && !maySayError(text) {
		return
	}
	b.nodeLine(text)
	if b.more > 0 {
		b.more--
		rest := strings.TrimSpace(strings.TrimPrefix(text, "[ERROR]"))
		last := &b.list[len(b.list)-1]
		if kind, name, ok := strings.Cut(rest, ":"); ok && strings.TrimSpace(kind) == "symbol" { // javac says on the next line what it cannot find
			last.Missing = symbolOf(strings.Clone(name))
			last.Message += "\n  " + rest
			b.more = 0
			return
		}
	}
	for i, form := range errorForms() {
		m := form.find(text)
		if m == nil || len(b.list) >= maxBroken {
			continue
		}
		file, msg := m[1], m[2]
		if i == 5 {
			file, msg = m[2], m[1]
		}
		file = path.Clean(b.at.relative(strings.ReplaceAll(file, `\`, "/")))
		x := Breakage{Unit: session.TestID(file), File: file, Missing: missingInCompiled(msg), Message: file + ": " + msg, Build: true}
		for _, old := range b.list { // Maven prints them twice
			if old.File == file && strings.HasPrefix(old.Message, x.Message) && (old.Missing != "" || i != 0) {
				return
			}
		}
		b.list = append(b.list, x)
		if b.more = 0; strings.Contains(msg, "cannot find symbol") {
			b.more = 4 // the line itself, a mark below it, and the symbol
		}
		return
	}
}

var nodeErrorRE = sync.OnceValue(func() (r struct{ at, failed, from lineForm }) {
	r.at = newLineForm("/", `^(?:file://)?(/\S+\.[cm]?[jt]sx?):\d+$`)
	r.failed = newLineForm("rror", `^(?:\w*Error(?: \[\w+\])?|error): .*`)
	r.from = newLineForm("from ", `(?:imported from |' from ')([^'\s]+)`)
	return r
})

// nodeLine reads Node's word for a file that could not be loaded, for runners that report nothing then (Mocha, AVA, Bun).
func (b *buildErrors) nodeLine(text string) {
	re := nodeErrorRE()
	text = strings.TrimPrefix(strings.TrimLeft(text, " "), mochaLoads)
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "file:///") {
		if m := re.at.find(text); m != nil {
			b.node = m[1]
			return
		}
	}
	if file, ok := strings.CutPrefix(text, "- "); ok && b.stack {
		b.loads[len(b.loads)-1].File = strings.Clone(b.at.relative(file)) // the first of the stack has the require
		b.stack = false
		return
	}
	if text == "Require stack:" && len(b.loads) > 0 {
		b.stack = true
		return
	}
	failed := re.failed.find(text)
	if failed == nil || len(b.loads) >= maxBroken {
		return
	}
	x := Breakage{File: b.at.relative(b.node), Missing: MissingInScript(failed[0]), Message: failed[0], Build: true}
	if m := re.from.find(text); m != nil {
		x.File = b.at.relative(strings.TrimPrefix(m[1], "file://"))
	}
	b.loads, b.stack = append(b.loads, x), false
}

// explain adds the errors to a report. Only files of the work tree count: a test may print what looks like an error.
func (b *buildErrors) explain(r *Report, inTree func(file string) bool) {
	n := r.Tests.Count()
	for _, x := range b.loads {
		if (x.Missing != "" || n.Failed+n.Errors == 0) && testpaths.HoldsTests(x.File) && inTree(x.File) {
			x.Unit, x.Message = session.TestID(x.File), b.at.Without(x.Message)
			r.Breaks(x)
		}
	}
	for _, x := range b.list {
		if !inTree(x.File) {
			continue
		}
		if x.Missing == "" && strings.Contains(x.Message, "cannot find symbol") {
			continue // the other half of what Maven prints twice
		}
		r.Breaks(x)
	}
}
