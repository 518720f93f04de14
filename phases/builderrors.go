package phases

import (
	"io"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/session"
)

// buildErrors listens to what is printed around a report for the errors of compilers. Where tests are compiled, the report
// of a build that failed is missing or has gaps, and only the compiler says why.
type buildErrors struct {
	mu   sync.Mutex
	at   place
	list []breakage
	more int // lines that may still belong to the last one

	node  string // where Node says that it is, "file:///top/a.js:1"
	loads []breakage
	stack bool // "Require stack:" is being printed
}

func newBuildErrors(at place) *buildErrors { return &buildErrors{at: at} }

// stream is a writer for one stream of the gate.
func (b *buildErrors) stream() io.Writer { return &lineFeed{to: b.line} }

// errorForm is how a compiler prints an error. has stands in every line that it fits.
type errorForm struct {
	has string
	re  *regexp.Regexp
}

var errorForms = sync.OnceValue(func() (forms []errorForm) {
	for _, f := range []struct{ has, re string }{
		{":[", `^(?:\[ERROR\] )?(\S.*?\.(?:java|kt|kts|groovy|scala)):\[\d+,\d+\] (?:error: )?(.*)$`},                        // Maven
		{": error: ", `^(?:\[ERROR\] )?(\S.*?\.(?:java|groovy|scala)):\d+: error: (.*)$`},                                    // javac
		{"e: ", `^(?:\[ERROR\] )?e: (?:file://)?(\S.*?\.kts?):(?:\d+:\d+:?| \(\d+, \d+\):) (.*)$`},                           // kotlinc
		{": error ", `^\s*(\S.*?\.(?:cs|fs|vb))\(\d+,\d+(?:,\d+,\d+)?\): error ((?:CS|FS|BC)\d+: .*?)(?: \[[^\]]*\])?$`},     // dotnet
		{" error TS", `^(\S.*?\.[cm]?tsx?)(?:\(\d+,\d+\):|:\d+:\d+ -) error (TS\d+: .*)$`},                                   // tsc
		{"PHP ", `^PHP (?:Fatal|Parse) error: +(?:Uncaught )?(.*?) in (\S.*?\.php)(?:\(\d+\) : .*)?(?::\d+| on line \d+)?$`}, // php, reason first
		{": error: ", `^(\S.*?\.swift):\d+:\d+: error: (.*)$`},
	} {
		forms = append(forms, errorForm{f.has, regexp.MustCompile(f.re)})
	}
	return forms
})

func (b *buildErrors) line(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nodeLine(text)
	if b.more > 0 {
		b.more--
		rest := strings.TrimSpace(strings.TrimPrefix(text, "[ERROR]"))
		last := &b.list[len(b.list)-1]
		if kind, name, ok := strings.Cut(rest, ":"); ok && strings.TrimSpace(kind) == "symbol" { // javac says on the next line what it cannot find
			last.Missing = symbolOf(name)
			last.Message += "\n  " + rest
			b.more = 0
			return
		}
	}
	for i, form := range errorForms() {
		if !strings.Contains(text, form.has) { // a flood of output must not cost seven expressions a line
			continue
		}
		m := form.re.FindStringSubmatch(text)
		if m == nil || len(b.list) >= maxBroken {
			continue
		}
		file, msg := m[1], m[2]
		if i == 5 {
			file, msg = m[2], m[1]
		}
		file = path.Clean(b.at.relative(strings.ReplaceAll(file, `\`, "/")))
		x := breakage{Unit: session.TestID(file), File: file, Missing: missingInCompiled(msg), Message: file + ": " + msg, Build: true}
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

var nodeErrorRE = sync.OnceValue(func() (r struct{ at, failed, from *regexp.Regexp }) {
	r.at = regexp.MustCompile(`^(?:file://)?(/\S+\.[cm]?[jt]sx?):\d+$`)
	r.failed = regexp.MustCompile(`^(?:\w*Error(?: \[\w+\])?|error): `)
	r.from = regexp.MustCompile(`(?:imported from |' from ')([^'\s]+)`)
	return r
})

// nodeLine reads Node's word for a file that could not be loaded, for runners that report nothing then (Mocha, AVA, Bun).
func (b *buildErrors) nodeLine(text string) {
	re := nodeErrorRE()
	text = strings.TrimPrefix(strings.TrimLeft(text, " "), "Exception during run: ") // Mocha
	if m := re.at.FindStringSubmatch(text); m != nil {
		b.node = m[1]
		return
	}
	if file, ok := strings.CutPrefix(text, "- "); ok && b.stack {
		b.loads[len(b.loads)-1].File = b.at.relative(file) // the first of the stack has the require
		b.stack = false
		return
	}
	if text == "Require stack:" && len(b.loads) > 0 {
		b.stack = true
		return
	}
	if !re.failed.MatchString(text) || len(b.loads) >= maxBroken {
		return
	}
	x := breakage{File: b.at.relative(b.node), Missing: missingInScript(text), Message: text, Build: true}
	if m := re.from.FindStringSubmatch(text); m != nil {
		x.File = b.at.relative(strings.TrimPrefix(m[1], "file://"))
	}
	b.loads, b.stack = append(b.loads, x), false
}

// explain adds the errors to a report. Only files of the work tree count: a test may print what looks like an error.
func (b *buildErrors) explain(r *report, inTree func(file string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := r.tests.Count()
	for _, x := range b.loads {
		if (x.Missing != "" || n.Failed+n.Errors == 0) && isTestFile(x.File) && inTree(x.File) {
			x.Unit, x.Message = session.TestID(x.File), b.at.without(x.Message)
			r.breaks(x)
		}
	}
	for _, x := range b.list {
		if !inTree(x.File) {
			continue
		}
		if x.Missing == "" && strings.Contains(x.Message, "cannot find symbol") {
			continue // the other half of what Maven prints twice
		}
		r.breaks(x)
	}
}
