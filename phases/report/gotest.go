package report

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wfs-dev/wfs/session"
)

// goEvent is one line of `go test -json` (see `go doc test2json` and `go help buildjson`).
type goEvent struct {
	Action      string
	Package     string
	ImportPath  string // of build-output and build-fail
	Test        string
	Output      string
	FailedBuild string
}

// goParser reads `go test -json` as it is printed. Lines that are no events are text.
type goParser struct {
	r       *Report
	root    string
	text    func(string)
	streams []*goStream

	running map[session.TestID]bool
	output  map[session.TestID]*lastBytes
	packs   map[string]*goPackage
	builds  map[string][]string // lines printed for an import path
	header  string              // import path of "# path" in text, as before Go 1.24
}

type goPackage struct {
	done, failed, broken, panicked bool
	failedBuild                    string
	tests                          int // that failed
	out                            lastBytes
}

// Bounds of what is remembered while tests run.
const (
	maxLive       = 256 // tests whose output is kept until they end
	maxBuilds     = 100
	maxBuildLines = 200
)

// goTimeout begins the line with which the testing package ends a process after -timeout.
const goTimeout = "panic: test timed out after "

// newGoParser reports what is meant for people to text, which may be nil. root is taken from paths.
func newGoParser(root string, text func(string)) *goParser {
	if text == nil {
		text = func(string) {}
	}
	return &goParser{r: New(), root: root, text: text, running: map[session.TestID]bool{},
		output: map[session.TestID]*lastBytes{}, packs: map[string]*goPackage{}, builds: map[string][]string{}}
}

// goStream is one of a program's two streams: their lines end independently.
type goStream struct {
	p        *goParser
	plain    bool // events are not expected here
	line     []byte
	skipping bool // the rest of a line that is too long
}

// stream returns a writer to be used for one stream; plain is for stderr, where go prints no events.
func (p *goParser) stream(plain bool) *goStream {
	s := &goStream{p: p, plain: plain}
	p.streams = append(p.streams, s)
	return s
}

func (s *goStream) Write(b []byte) (int, error) {
	if bytes.IndexByte(b, '\n') >= 0 {
		return s.WriteString(string(b))
	}
	s.begin(b)
	return len(b), nil
}

func (s *goStream) begin(line []byte) {
	if s.skipping = s.skipping || len(s.line)+len(line) > maxLine; s.skipping {
		s.line = s.line[:0]
		return
	}
	s.line = append(s.line, line...)
}

// WriteString is Write. Lines that come together share their memory: whoever keeps something of one clones it.
func (s *goStream) WriteString(text string) (int, error) {
	n := len(text)
	for text != "" {
		part, rest, ended := strings.Cut(text, "\n")
		if ended && !s.skipping && len(s.line) == 0 {
			s.p.line(part, s.plain)
		} else if s.begin([]byte(part)); ended {
			s.end()
		}
		text = rest
	}
	return n, nil
}

// end reads the line that came in pieces.
func (s *goStream) end() {
	if !s.skipping && len(s.line) > 0 {
		s.p.line(string(s.line), s.plain)
	}
	s.line, s.skipping = s.line[:0], false
}

func (p *goParser) line(line string, plain bool) {
	trimmed := strings.TrimSpace(line)
	if trimmed == "" {
		return
	}
	if !plain && trimmed[0] == '{' {
		e, ok := quickEvent(trimmed)
		if !ok {
			e = goEvent{}
			ok = json.Unmarshal([]byte(trimmed), &e) == nil
		}
		if ok && e.Action != "" {
			p.event(e)
			return
		}
	}
	p.textLine(line)
}

// quickEvent reads an event as test2json writes it, several times as fast as encoding/json, and is false for whatever has
// another form.
func quickEvent(line string) (e goEvent, ok bool) {
	for at := byte('{'); ; at = ',' {
		if line == "}" {
			return e, true
		}
		if line == "" || line[0] != at {
			return e, false
		}
		name, rest, ok := quickString(line[1:])
		if !ok || rest == "" || rest[0] != ':' {
			return e, false
		}
		rest = rest[1:]
		if name == "Elapsed" {
			line = strings.TrimLeft(rest, "0123456789.e-+")
			continue
		}
		value, rest, ok := quickString(rest)
		if !ok {
			return e, false
		}
		switch line = rest; name {
		case "Action":
			e.Action = value
		case "Package":
			e.Package = value
		case "ImportPath":
			e.ImportPath = value
		case "Test":
			e.Test = value
		case "Output":
			e.Output = value
		case "FailedBuild":
			e.FailedBuild = value
		case "Time":
		default:
			return e, false
		}
	}
}

// quickString reads a string of JSON that has no escapes but those which test2json writes for ASCII.
func quickString(s string) (value, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", "", false
	}
	var b []byte
	from := 1
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			if value = s[from:i]; b != nil {
				value = string(append(b, value...))
			}
			return value, s[i+1:], utf8.ValidString(value)
		case c == '\\' && i+1 < len(s):
			b = append(b, s[from:i]...)
			i++
			if plain := strings.IndexByte(`"\/nt`, s[i]); plain >= 0 {
				b = append(b, "\"\\/\n\t"[plain])
			} else if code, err := strconv.ParseUint(s[i+1:min(i+5, len(s))], 16, 7); s[i] == 'u' && err == nil {
				b = append(b, byte(code))
				i += 4
			} else {
				return "", "", false
			}
			from = i + 1
		case c < ' ' || c == '\\':
			return "", "", false
		}
	}
	return "", "", false
}

// textLine reads what is no event: what older versions of go print about builds, and everything on stderr.
func (p *goParser) textLine(line string) {
	p.text(line)
	if strings.Contains(line, "no packages to test") || strings.Contains(line, "matched no packages") {
		p.r.NoTests = true
	}
	if header, ok := strings.CutPrefix(line, "# "); ok {
		p.header = strings.Clone(header)
	} else if p.header != "" {
		p.buildLine(p.header, line)
	}
}

func (p *goParser) buildLine(of, line string) {
	lines := p.builds[of]
	if lines == nil && len(p.builds) >= maxBuilds || len(lines) >= maxBuildLines {
		return
	}
	p.builds[strings.Clone(of)] = append(lines, strings.Clone(strings.TrimRight(line, "\n\r")))
}

func (p *goParser) pack(name string) *goPackage {
	g := p.packs[name]
	if g == nil {
		g = &goPackage{}
		if len(p.packs) < maxTests {
			p.packs[strings.Clone(name)] = g
		}
	}
	return g
}

func (p *goParser) event(e goEvent) {
	if e.Package == "" {
		if e.Action == "build-output" {
			p.text(strings.TrimRight(e.Output, "\n"))
			p.buildLine(e.ImportPath, e.Output)
		}
		return
	}
	if e.Test == "" {
		p.packageEvent(e)
		return
	}
	id := session.TestID(e.Package + "." + testName(e.Test))
	switch e.Action {
	case "run":
		if len(p.running) < maxTests {
			p.running[id] = true
		}
	case "output":
		p.text(strings.TrimRight(e.Output, "\n"))
		p.keep(id, e.Output)
		if strings.HasPrefix(e.Output, "panic: ") || strings.HasPrefix(e.Output, "fatal error: ") {
			p.pack(e.Package).panicked = true
			p.r.TimedOut = p.r.TimedOut || strings.HasPrefix(e.Output, goTimeout)
		}
	case "pass":
		p.end(id, session.TestPass)
	case "skip":
		p.end(id, session.TestSkip)
	case "fail":
		p.pack(e.Package).tests++
		p.end(id, session.TestFail)
	}
}

func (p *goParser) keep(id session.TestID, output string) {
	if strings.HasPrefix(strings.TrimSpace(output), "=== ") {
		return
	}
	o := p.output[id]
	if o == nil {
		if len(p.output) >= maxLive {
			return
		}
		o = &lastBytes{}
		p.output[id] = o
	}
	o.add(output)
}

func (p *goParser) end(id session.TestID, s session.TestStatus) {
	delete(p.running, id)
	p.r.Set(id, s)
	if o := p.output[id]; o != nil {
		if s == session.TestFail {
			p.r.Say(id, o.String())
		}
		delete(p.output, id)
	}
}

func (p *goParser) packageEvent(e goEvent) {
	g := p.pack(e.Package)
	switch e.Action {
	case "output":
		p.text(strings.TrimRight(e.Output, "\n"))
		g.out.add(e.Output)
		p.r.TimedOut = p.r.TimedOut || strings.HasPrefix(e.Output, goTimeout)
		g.panicked = g.panicked || strings.HasPrefix(e.Output, "panic: ") || strings.HasPrefix(e.Output, "fatal error: ")
		// Go 1.23 and older say only here that nothing was run.
		g.broken = g.broken || strings.Contains(e.Output, "[build failed]") || strings.Contains(e.Output, "[setup failed]")
	case "pass", "skip":
		g.done = true
	case "fail":
		g.done, g.failed, g.failedBuild = true, true, strings.Clone(e.FailedBuild)
	}
}

// finish closes the report: what was running when its process ended has no result, and a package that failed is
// explained by a test, by its build, or by an entry of its own.
func (p *goParser) finish() *Report {
	for _, s := range p.streams {
		s.end()
	}
	for _, id := range sortedKeys(p.running) {
		p.r.Set(id, session.TestError)
		p.r.Say(id, "it was running when the test process exited\n"+p.output[id].String())
		if pkg, _ := SplitGo(id); pkg != "" {
			p.pack(pkg).tests++
			p.r.Crashed[pkg] = true
		}
	}
	for _, name := range sortedKeys(p.packs) {
		g := p.packs[name]
		switch {
		case g.failedBuild != "" || g.broken:
			p.brokenPackage(name, g)
		case g.failed && g.tests == 0:
			p.r.Set(session.TestID(name), session.TestError)
			p.r.Say(session.TestID(name), g.out.String())
			p.r.Crashed[name] = true
		case g.failed && g.panicked:
			p.r.Crashed[name] = true
		}
	}
	return p.r
}

func (p *goParser) brokenPackage(name string, g *goPackage) {
	lines := p.builds[g.failedBuild]
	if len(lines) == 0 {
		for _, of := range sortedKeys(p.builds) {
			if first, _, _ := strings.Cut(of, " "); first == name || first == name+"_test" || first == name+".test" {
				lines = append(lines, p.builds[of]...)
			}
		}
	}
	unit, found := session.TestID(name), false
	for i, line := range lines {
		b, ok := p.goError(unit, line)
		if !ok {
			continue
		}
		for _, more := range lines[i+1:] { // "have (…)", "want (…)" and the like
			if !strings.HasPrefix(more, "\t") {
				break
			}
			b.Message += "\n" + more
		}
		p.r.Breaks(b)
		found = true
	}
	if !found {
		p.r.Breaks(Breakage{Unit: unit, Message: strings.TrimSpace(strings.Join(lines, "\n") + "\n" + g.out.String())})
	}
}

// goError reads "file:line:col: message", or a message of go itself.
func (p *goParser) goError(unit session.TestID, line string) (Breakage, bool) {
	if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "\t") || strings.HasSuffix(line, ": too many errors") {
		return Breakage{}, false
	}
	file, msg := goPosition(strings.TrimPrefix(line, "vet: "))
	if rel, ok := strings.CutPrefix(file, p.root+"/"); ok {
		file = rel
	}
	if file != "" {
		file = path.Clean(file)
	}
	b := Breakage{Unit: unit, File: file, Message: strings.ReplaceAll(line, p.root+"/", "")}
	b.Missing = missingInGo(msg, ModulePrefix(string(unit), file))
	return b, true
}

// goPosition splits "dir/file.go:3:8: message". file is "" when the line does not begin with a position.
func goPosition(line string) (file, msg string) {
	i := strings.Index(line, ".go:")
	if i < 0 || strings.ContainsAny(line[:i], "\t\"") {
		return "", line
	}
	file, rest := line[:i+3], line[i+4:]
	digits := strings.TrimLeft(rest, "0123456789:")
	if digits == rest {
		return "", line
	}
	return file, strings.TrimSpace(digits)
}

// lastBytes keeps the end of a text, a little more than one excerpt. A nil one is empty.
type lastBytes struct{ b []byte }

func (l *lastBytes) add(s string) {
	l.b = append(l.b, s...)
	if extra := len(l.b) - 2*MaxExcerpt; extra > 0 {
		cut := extra + MaxExcerpt
		cut += max(0, bytes.IndexAny(l.b[cut:], " \t\n")) // half a word may be half a secret
		l.b = slices.Delete(l.b, 0, cut)
	}
}

func (l *lastBytes) String() string {
	if l == nil {
		return ""
	}
	return string(l.b)
}
