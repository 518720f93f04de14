package report

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/session"
)

// goEvent is one line of `go test -json` (see `go doc test2json` and `go help buildjson`).
type goEvent struct {
	Action      string
	Package     string
	ImportPath  string // import path in events of the kind build-output
	Test        string
	Output      string
	FailedBuild string
}

// goTests reads the output of `go test -json` while it is printed. It treats lines that are not events as text.
type goTests struct {
	results
	text    func(string)
	running map[session.TestID]*End // tests that have begun and not ended, with their output; nil if none is stored
	live    int                     // number of running tests with stored output
	packs   map[string]*goPackage
	builds  map[string][]string // build output by import path
	header  string              // import path of the last "# path" line in text, which Go before 1.24 prints
}

type goPackage struct {
	failed, broken, panicked bool
	failedBuild              string
	tests                    int // number of failed tests
	out                      End
}

// Limits for the memory that running tests use.
const (
	maxLive       = 256 // tests whose output is stored while they run
	maxBuilds     = 100
	maxBuildLines = 200
)

// goTimeout is the beginning of the line with which the testing package ends a process that exceeds -timeout.
const goTimeout = "panic: test timed out after "

// newGoTests returns a parser for `go test -json`. It passes the lines that are for people to text.
func newGoTests(r results, text func(string)) *goTests {
	return &goTests{results: r, text: text, running: map[session.TestID]*End{}, packs: map[string]*goPackage{},
		builds: map[string][]string{}}
}

func (p *goTests) line(line string) {
	var e goEvent
	if strings.HasPrefix(strings.TrimSpace(line), "{") && json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
		p.event(e)
	} else {
		p.plain(line)
	}
}

// plain reads a line that is not an event: build output of older versions of go, or anything on standard error.
func (p *goTests) plain(line string) {
	p.text(line)
	if strings.Contains(line, "no packages to test") || strings.Contains(line, "matched no packages") {
		p.NoTests = true
	}
	if header, ok := strings.CutPrefix(line, "# "); ok {
		p.header = strings.Clone(header)
	} else if p.header != "" {
		p.buildLine(p.header, strings.Clone(line))
	}
}

func (p *goTests) buildLine(of, line string) {
	lines := p.builds[of]
	if lines == nil && len(p.builds) >= maxBuilds || len(lines) >= maxBuildLines {
		return
	}
	p.builds[of] = append(lines, strings.TrimRight(line, "\n\r"))
}

func (p *goTests) pack(name string) *goPackage {
	g := p.packs[name]
	if g == nil {
		g = &goPackage{out: End{Most: maxExcerpt}}
		if len(p.packs) < maxTests {
			p.packs[name] = g
		}
	}
	return g
}

func (p *goTests) event(e goEvent) {
	if e.Action == "output" || e.Action == "build-output" {
		p.text(strings.TrimRight(e.Output, "\n"))
	}
	switch {
	case e.Action == "build-output":
		p.buildLine(e.ImportPath, e.Output)
	case e.Package == "":
	case e.Action == "output":
		p.output(e)
	case e.Test != "":
		p.testEvent(e)
	case e.Action == "fail":
		g := p.pack(e.Package)
		g.failed, g.failedBuild = true, e.FailedBuild
	default:
		p.pack(e.Package)
	}
}

func (p *goTests) output(e goEvent) {
	g := p.pack(e.Package)
	g.panicked = g.panicked || strings.HasPrefix(e.Output, "panic: ") || strings.HasPrefix(e.Output, "fatal error: ")
	p.TimedOut = p.TimedOut || strings.HasPrefix(e.Output, goTimeout)
	if e.Test == "" {
		_, _ = g.out.Write([]byte(e.Output))
		// In Go 1.23 and older, only these lines report that the tests were not built.
		g.broken = g.broken || strings.Contains(e.Output, "[build failed]") || strings.Contains(e.Output, "[setup failed]")
		return
	}
	id := goTestID(e)
	out, runs := p.running[id]
	if !runs || out == nil && p.live >= maxLive || strings.HasPrefix(strings.TrimSpace(e.Output), "=== ") {
		return
	}
	if out == nil {
		out = &End{Most: maxExcerpt}
		p.running[id] = out
		p.live++
	}
	_, _ = out.Write([]byte(e.Output))
}

func goTestID(e goEvent) session.TestID { return session.TestID(e.Package + "." + testName(e.Test)) }

func (p *goTests) testEvent(e goEvent) {
	id := goTestID(e)
	if e.Action == "run" && len(p.running) < maxTests {
		p.running[id] = nil
	}
	status, ends := statuses[e.Action]
	if !ends {
		return
	}
	p.Set(id, status)
	out := p.running[id]
	delete(p.running, id)
	if status == session.TestFail {
		p.pack(e.Package).tests++
	}
	if out != nil {
		p.live--
		if status == session.TestFail {
			p.Say(id, out.String())
		}
	}
}

// finish completes the report. Tests that were still running when their process ended get an error. A package that
// failed without a failing test gets an error of its own, with its build errors or its output.
func (p *goTests) finish() {
	for _, id := range slices.Sorted(maps.Keys(p.running)) {
		p.Set(id, session.TestError)
		p.Say(id, "it was running when the test process exited\n"+p.running[id].String())
		if pkg, _ := SplitGo(id); pkg != "" {
			p.pack(pkg).tests++
			p.Crashed[pkg] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.packs)) {
		switch g := p.packs[name]; {
		case g.failedBuild != "" || g.broken:
			p.brokenPackage(name, g)
		case g.failed && g.tests == 0:
			p.Set(session.TestID(name), session.TestError)
			p.Say(session.TestID(name), g.out.String())
			p.Crashed[name] = true
		case g.failed && g.panicked:
			p.Crashed[name] = true
		}
	}
}

func (p *goTests) brokenPackage(name string, g *goPackage) {
	lines := p.builds[g.failedBuild]
	if len(lines) == 0 {
		for _, of := range slices.Sorted(maps.Keys(p.builds)) {
			if first, _, _ := strings.Cut(of, " "); first == name || first == name+"_test" || first == name+".test" {
				lines = append(lines, p.builds[of]...)
			}
		}
	}
	unit, n := session.TestID(name), len(p.Broken)
	// Details such as "have (…)" and "want (…)" are on indented lines below an error.
	for _, text := range goErrors.FindAllString(strings.Join(lines, "\n"), -1) {
		if text[0] != '#' && !strings.HasSuffix(text, ": too many errors") {
			p.Breaks(p.goError(unit, text))
		}
	}
	if len(p.Broken) == n {
		p.Breaks(Breakage{Unit: unit, Message: strings.TrimSpace(strings.Join(lines, "\n") + "\n" + g.out.String())})
	}
}

// goError parses a message "file:line:col: message" of the compiler, or a message of the go command without a position.
func (p *goTests) goError(unit session.TestID, text string) Breakage {
	line, _, _ := strings.Cut(text, "\n")
	file, msg := goPosition(strings.TrimPrefix(line, "vet: "))
	if file != "" {
		file = path.Clean(p.at.relative(file))
	}
	for _, root := range p.at {
		text = strings.ReplaceAll(text, root+"/", "")
	}
	return Breakage{Unit: unit, File: file, Message: text, Missing: missingInGo(msg, ModulePrefix(string(unit), file))}
}

var (
	goErrors = lazyregexp.New(`(?m)^[^\t\n].*(?:\n\t.*)*`)
	goPlace  = lazyregexp.New(`(?s)^([^\t"]*?\.go):[\d:]+(.*)$`)
)

// goPosition splits "dir/file.go:3:8: message" into the file and the message. `file` is "" if the text does not begin
// with a position.
func goPosition(text string) (file, msg string) {
	if m := goPlace.FindStringSubmatch(text); m != nil {
		return m[1], strings.TrimSpace(m[2])
	}
	return "", text
}
