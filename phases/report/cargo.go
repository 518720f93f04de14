package report

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/session"
)

// cargoParser reads what `cargo test` prints: of cargo which program runs ("Running tests/it.rs (…)"), of that program
// ("test a::b ... ok"), and of the compiler. Both streams must come in their order, so a gate's streams share one pipe.
//
// A test's id is the crate, the program when it is not the crate's own unit tests, and the name: "calc::tests::adds",
// "calc/it::adds", "calc/doc::src/lib.rs - add".
type cargoParser struct {
	r     *Report
	at    Place
	seen  map[session.TestID]int
	crate string // of the unit tests that ran last
	unit  string // what runs now
	open  string // the test whose result is not printed yet: with one thread it comes later
	left  int    // results that the running program has still to print
	said  *quote // output of a failing test
	diags []cargoError
	lines int    // of the last of diags that may still come
	stop  string // cargo's word that something could not be compiled
}

// cargoError is one error of the compiler.
type cargoError struct {
	Breakage
	follows bool // a type that cannot be inferred, which always follows from another error
}

// quote collects the lines that belong to one test.
type quote struct {
	id   session.TestID
	text strings.Builder
}

func (q *quote) add(line string) {
	if q != nil && q.text.Len() < MaxExcerpt {
		q.text.WriteString(line)
		q.text.WriteByte('\n')
	}
}

func newCargoParser(at Place) *cargoParser {
	return &cargoParser{r: New(), at: at, seen: map[session.TestID]int{}, crate: "crate", unit: "crate"}
}

var cargoRE = sync.OnceValue(func() (r struct{ running, docs, count, result, code, where lineForm }) {
	r.running = newLineForm("Running ", `^\s*Running (unittests )?(\S+) \((?:.*[/\\])?([^/\\]+?)(?:-[0-9a-f]{16})?(?:\.exe|\.wasm)?\)$`)
	r.docs = newLineForm("Doc-tests ", `^\s*Doc-tests (\S+)$`)
	r.count = newLineForm("running ", `^running (\d+) tests?$`)
	r.result = newLineForm("", `(?:^|\.\.\. |[^\w])(ok|FAILED|ignored)(?:, .*)?$`)
	r.code = newLineForm("error", `^error(?:\[(E\d+)\])?: (.*)$`)
	r.where = newLineForm("--> ", `^\s*--> (.+?):(\d+):\d+$`)
	return r
})

func (p *cargoParser) line(text string) {
	re := cargoRE()
	if m := re.running.find(text); m != nil {
		p.program(m[1] != "", m[2], m[3])
		return
	}
	if m := re.docs.find(text); m != nil {
		p.ended()
		p.crate, p.unit = m[1], m[1]+"/doc"
		return
	}
	if m := re.count.find(text); m != nil {
		p.ended()
		p.left, _ = strconv.Atoi(m[1])
		return
	}
	if strings.HasPrefix(text, "test result: ") {
		p.left, p.open, p.said = 0, "", p.flush()
		return
	}
	if name, ok := strings.CutPrefix(text, "---- "); ok {
		p.said = p.flush()
		if name, ok = strings.CutSuffix(name, " ----"); ok {
			name = strings.TrimSuffix(strings.TrimSuffix(name, " stdout"), " stderr")
			p.said = &quote{id: p.id(name)}
		}
		return
	}
	if text == "failures:" || text == "successes:" {
		p.said = p.flush()
		return
	}
	if p.said != nil {
		p.said.add(text)
		return
	}
	if p.left > 0 || !p.compiler(text) {
		p.result(text)
	}
}

// program notes which program's tests come next.
func (p *cargoParser) program(units bool, file, name string) {
	p.ended()
	base := strings.TrimSuffix(path.Base(strings.ReplaceAll(file, `\`, "/")), ".rs")
	switch {
	case units && base == "lib":
		p.crate, p.unit = name, name
	case units && base == "main" && (p.crate == name || p.unit == name):
		p.unit = name + "/main"
	case units && base == "main":
		p.crate, p.unit = name, name
	default:
		p.unit = p.crate + "/" + name
	}
}

// result reads "test NAME ... ok", also when the test printed something into the line.
func (p *cargoParser) result(text string) {
	name, rest, found := "", text, p.open != ""
	if i := strings.Index(text, "test "); i >= 0 && p.left > 0 {
		if n, r, ok := strings.Cut(text[i+len("test "):], " ... "); ok {
			name, rest, found = n, r, true
		}
	}
	if !found {
		return
	}
	if name == "" {
		name = p.open
	}
	m := []string{rest, rest}
	if rest != "ok" { // most are
		m = cargoRE().result.find(rest)
	}
	if m == nil {
		p.open = strings.Clone(name)
		return
	}
	p.open = ""
	p.left--
	id := p.id(name)
	if p.seen[id]++; p.seen[id] > 1 {
		id = session.TestID(fmt.Sprintf("%s#%d", id, p.seen[id]))
	}
	switch m[1] {
	case "ok":
		p.r.Set(id, session.TestPass)
	case "FAILED":
		p.r.Set(id, session.TestFail)
	case "ignored":
		p.r.Set(id, session.TestSkip)
	}
}

// id names a test. What depends on where in a file it stands is left out.
func (p *cargoParser) id(name string) session.TestID {
	name = strings.TrimSuffix(name, " - should panic")
	if i := strings.LastIndex(name, " (line "); i > 0 {
		name = name[:i]
	}
	return session.TestID(p.unit + "::" + testName(name))
}

// compiler reads the compiler's errors and reports whether the line was of the compiler or of cargo.
func (p *cargoParser) compiler(text string) bool {
	re := cargoRE()
	if m := re.code.find(text); m != nil {
		p.lines = 0
		switch msg := m[2]; {
		case strings.HasPrefix(msg, "could not compile"), strings.HasPrefix(msg, "could not document"):
			p.stop = msg
		case strings.HasPrefix(msg, "test failed,"), strings.HasPrefix(msg, "doctest failed,"), strings.HasSuffix(msg, "failed:"),
			strings.HasPrefix(msg, "aborting due to"):
		case len(p.diags) < maxBroken:
			p.lines = maxBuildLines
			p.diags = append(p.diags, cargoError{Breakage{Missing: missingInRust(msg), Message: m[0], Build: true},
				m[1] == "E0282" || m[1] == "E0283" || m[1] == "E0284"})
		}
		return true
	}
	if p.lines == 0 {
		return false
	}
	p.lines--
	d := &p.diags[len(p.diags)-1]
	if m := re.where.find(text); m != nil && d.File == "" {
		d.File = p.at.relative(strings.ReplaceAll(m[1], `\`, "/"))
		d.Line, _ = strconv.Atoi(m[2])
	}
	if text == "" || strings.HasPrefix(text, "warning:") {
		p.lines = 0
	} else if len(d.Message) < MaxExcerpt {
		d.Message += "\n" + text
	}
	return true
}

func (p *cargoParser) flush() *quote {
	if p.said != nil {
		p.r.Say(p.said.id, p.at.Without(p.said.text.String()))
	}
	return nil
}

// ended closes the program that ran: one that printed fewer results than it promised has died.
func (p *cargoParser) ended() {
	p.said = p.flush()
	if p.left > 0 {
		id := session.TestID(p.unit)
		if p.open != "" {
			id = p.id(p.open)
		}
		p.r.Set(id, session.TestError)
		p.r.Say(id, fmt.Sprintf("the test program ended with %d results missing", p.left))
	}
	p.left, p.open = 0, ""
}

func (p *cargoParser) finish() *Report {
	p.ended()
	waits := slices.ContainsFunc(p.diags, func(d cargoError) bool { return d.Missing != "" || misfit(d.File, d.Message) != "" })
	for _, d := range p.diags {
		if d.follows && waits {
			continue
		}
		if d.Unit = session.TestID(d.File); d.File == "" {
			d.Unit = session.TestID(p.crate)
		}
		d.Message = p.at.Without(d.Message)
		p.r.Breaks(d.Breakage)
	}
	if p.stop != "" && len(p.diags) == 0 {
		p.r.Breaks(Breakage{Unit: session.TestID(p.crate), Message: p.stop, Build: true})
	}
	return p.r
}
