package report

import (
	"path"
	"strings"

	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/session"
)

// compilers collects compiler errors from a gate's output. If the build fails, the report is missing or incomplete,
// and only the compiler's output says why.
type compilers struct {
	at   Place
	list []Breakage
	more int // number of lines that may still belong to the last error

	node  string // position that Node printed last, "file:///top/a.js:1"
	loads []Breakage
	stack bool // set while the lines of "Require stack:" are read
}

// compilerForms match the compiler errors of several languages.
var compilerForms = []form{
	// Maven
	newForm(":[", `^(?:\[ERROR\] )?(?P<file>\S.*?\.(?:java|kt|kts|groovy|scala)):\[\d+,\d+\] (?:error: )?(?P<why>.*)$`),
	// javac
	newForm(": error: ", `^(?:\[ERROR\] )?(?P<file>\S.*?\.(?:java|groovy|scala)):\d+: error: (?P<why>.*)$`),
	// kotlinc
	newForm("e: ", `^(?:\[ERROR\] )?e: (?:file://)?(?P<file>\S.*?\.kts?):(?:\d+:\d+:?| \(\d+, \d+\):) (?P<why>.*)$`),
	// dotnet
	newForm(": error ", `^\s*(?P<file>\S.*?\.(?:cs|fs|vb))\(\d+,\d+(?:,\d+,\d+)?\): error (?P<why>(?:CS|FS|BC)\d+: .*?)(?: \[[^\]]*\])?$`),
	// tsc
	newForm(" error TS", `^(?P<file>\S.*?\.[cm]?tsx?)(?:\(\d+,\d+\):|:\d+:\d+ -) error (?P<why>TS\d+: .*)$`),
	// php
	newForm("PHP ", `^PHP (?:Fatal|Parse) error: +(?:Uncaught )?(?P<why>.*?) in (?P<file>\S.*?\.php)(?:\(\d+\) : .*)?(?::\d+| on line \d+)?$`),
	newForm(": error: ", `^(?P<file>\S.*?\.swift):\d+:\d+: error: (?P<why>.*)$`),
}

// noSymbol is javac's message about an unknown name. The name itself follows on another line.
const noSymbol = "cannot find symbol"

func (c *compilers) line(text string) {
	c.nodeLine(text)
	if c.more > 0 {
		c.more--
		rest := strings.TrimSpace(strings.TrimPrefix(text, "[ERROR]"))
		if symbol, ok := strings.CutPrefix(rest, "symbol:"); ok {
			last := &c.list[len(c.list)-1]
			_, name, _ := strings.Cut(strings.TrimSpace(symbol), " ") // "method f(int)", "variable x of type T"
			name, _, _ = strings.Cut(name, " ")
			name, _, _ = strings.Cut(name, "(")
			last.Missing = strings.Clone(name)
			last.Message += "\n  " + rest
			c.more = 0
			return
		}
	}
	for _, f := range compilerForms {
		m := f.find(text)
		if m == nil || len(c.list) >= maxBroken {
			continue
		}
		file := cleanPath(c.at.relative(m[f.re().SubexpIndex("file")]))
		msg := m[f.re().SubexpIndex("why")]
		c.list = append(c.list, Breakage{Unit: session.TestID(file), File: file, Missing: unknownInCompiled.find(msg),
			Message: file + ": " + msg, Build: true})
		if c.more = 0; strings.Contains(msg, noSymbol) {
			c.more = 4 // the source line, a mark below it, and the symbol
		}
		return
	}
}

var (
	nodeAt     = newForm("/", `^(?:file://)?(/\S+\.[cm]?[jt]sx?):\d+$`)
	nodeFailed = newForm("rror", `^(?:\w*Error(?: \[\w+\])?|error): .*`)
	nodeFrom   = newForm("from ", `(?:imported from |' from ')([^'\s]+)`)
)

// nodeLine reads Node's errors about files that it could not load. It is for runners whose reports do not have them
// (Mocha, AVA, Bun).
func (c *compilers) nodeLine(text string) {
	text = strings.TrimPrefix(strings.TrimLeft(text, " "), "Exception during run: ") // Mocha's prefix
	file, listed := strings.CutPrefix(text, "- ")
	switch m := nodeAt.find(text); {
	case m != nil:
		c.node = m[1]
	case c.stack && listed: // the first file in the stack contains the require
		c.loads[len(c.loads)-1].File = strings.Clone(c.at.relative(file))
		c.stack = false
	case text == "Require stack:":
		c.stack = len(c.loads) > 0
	default:
		failed := nodeFailed.find(text)
		if failed == nil || len(c.loads) >= maxBroken {
			return
		}
		from := c.node
		if m := nodeFrom.find(text); m != nil {
			from = strings.TrimPrefix(m[1], "file://")
		}
		c.loads = append(c.loads, Breakage{File: c.at.relative(from), Missing: MissingInScript(failed[0]),
			Message: failed[0], Build: true})
		c.stack = false
	}
}

// explain adds the compiler errors to a report. It leaves out errors in files for which inTree returns false, because
// a test may print similar text about other files.
func (c *compilers) explain(r *Report, inTree func(file string) bool) {
	n := r.Tests.Count()
	for _, x := range c.loads {
		if (x.Missing != "" || n.Failed+n.Errors == 0) && testpaths.HoldsTests(x.File) && inTree(x.File) {
			x.Unit, x.Message = session.TestID(x.File), c.at.Without(x.Message)
			r.Breaks(x)
		}
	}
	said := map[string]bool{} // errors added so far: Maven prints each twice
	for _, x := range c.list {
		if inTree(x.File) && !said[x.Message] && (x.Missing != "" || !strings.Contains(x.Message, noSymbol)) {
			said[x.Message] = true
			r.Breaks(x)
		}
	}
}

func cleanPath(file string) string { return path.Clean(strings.ReplaceAll(file, `\`, "/")) }
