package report

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// cargoTests reads the output of `cargo test`: lines of cargo about the program that runs ("Running tests/it.rs
// (…)"), of that program ("test a::b ... ok"), and of the compiler. The order of both streams matters, so a gate's
// streams share one pipe.
//
// A test's id has the crate, the program unless it is the crate's own unit tests, and the name: "calc::tests::adds",
// "calc/it::adds", "calc/doc::src/lib.rs - add".
type cargoTests struct {
	results
	crate string // of the latest unit tests
	unit  string // the running program
	open  string // a test without a result yet: with one thread that comes later
	left  int    // results that the running program still has to print
	diags []cargoError
	lines int    // lines that may still belong to the last of diags
	stop  string // cargo's message that a compilation failed
}

// cargoError is one error of the compiler.
type cargoError struct {
	Breakage
	follows bool // a type that cannot be inferred: always follows from another error
}

var (
	cargoRunning = newForm("Running ",
		`^\s*Running (unittests )?(\S+) \((?:.*[/\\])?([^/\\]+?)(?:-[0-9a-f]{16})?(?:\.exe|\.wasm)?\)$`)
	cargoDocs    = newForm("Doc-tests ", `^\s*Doc-tests (\S+)$`)
	cargoCount   = newForm("running ", `^running (\d+) tests?$`)
	cargoTest    = newForm("test ", `test (.*?) \.\.\. (.*)$`)
	cargoResult  = newForm("", `(?:^|\.\.\. |[^\w])(ok|FAILED|ignored)(?:, .*)?$`)
	cargoSection = newForm("---- ", `^---- (.*?)(?: stdout| stderr)? ----$`)
	cargoStop    = newForm("could not ", `^could not (?:compile|document)`)
	cargoNoise   = newForm("", `^(?:test failed,|doctest failed,|aborting due to)|failed:$`)
	rustError    = newForm("error", `^error(?:\[(E\d+)\])?: (.*)$`)
	rustPlace    = newForm("--> ", `^\s*--> (.+?):(\d+):\d+$`)
)

func (p *cargoTests) line(text string) {
	if m := cargoRunning.find(text); m != nil {
		p.program(m[1] != "", m[2], m[3])
	} else if m := cargoDocs.find(text); m != nil {
		p.ended()
		p.crate, p.unit = m[1], m[1]+"/doc"
	} else if m := cargoCount.find(text); m != nil {
		p.ended()
		p.left, _ = strconv.Atoi(m[1])
	} else if m := cargoSection.find(text); m != nil {
		p.flush()
		p.said = &quote{id: p.id(m[1])}
	} else if strings.HasPrefix(text, "test result: ") || text == "failures:" || text == "successes:" {
		p.flush()
		if text[0] == 't' {
			p.left, p.open = 0, ""
		}
	} else if p.said != nil {
		p.said.add(text)
	} else if p.left > 0 || !p.compiler(text) {
		p.result(text)
	}
}

// program records which program's tests come next.
func (p *cargoTests) program(units bool, file, name string) {
	p.ended()
	base := strings.TrimSuffix(path.Base(strings.ReplaceAll(file, `\`, "/")), ".rs")
	switch {
	case units && base == "main" && (p.crate == name || p.unit == name):
		p.unit = name + "/main"
	case units && (base == "lib" || base == "main"):
		p.crate, p.unit = name, name
	default:
		p.unit = p.crate + "/" + name
	}
}

// result reads "test NAME ... ok", even if the test printed into that line.
func (p *cargoTests) result(text string) {
	name, rest := p.open, text
	if m := cargoTest.find(text); m != nil && p.left > 0 {
		name, rest = m[1], m[2]
	}
	if name == "" {
		return
	}
	m := cargoResult.find(rest)
	if m == nil {
		p.open = name
		return
	}
	p.open = ""
	p.left--
	status, ran := statuses[m[1]]
	if !ran {
		status = session.TestSkip
	}
	p.add(p.id(name), status, "")
}

// id returns the id of a test, without parts that depend on its place in a file.
func (p *cargoTests) id(name string) session.TestID {
	name = strings.TrimSuffix(name, " - should panic")
	if i := strings.LastIndex(name, " (line "); i > 0 {
		name = name[:i]
	}
	return session.TestID(p.unit + "::" + testName(name))
}

// compiler reads compiler errors, and reports whether the line is from the compiler or from cargo.
func (p *cargoTests) compiler(text string) bool {
	if m := rustError.find(text); m != nil {
		p.lines = 0
		switch msg := m[2]; {
		case cargoStop.find(msg) != nil:
			p.stop = msg
		case cargoNoise.find(msg) == nil && len(p.diags) < maxBroken:
			p.lines = maxBuildLines
			p.diags = append(p.diags, cargoError{Breakage{Missing: unknownInRust.find(msg), Message: m[0], Build: true},
				m[1] == "E0282" || m[1] == "E0283" || m[1] == "E0284"})
		}
		return true
	}
	if p.lines == 0 {
		return false
	}
	p.lines--
	p.more(&p.diags[len(p.diags)-1], text)
	return true
}

// more reads the lines below an error: its place, and notes.
func (p *cargoTests) more(d *cargoError, text string) {
	if m := rustPlace.find(text); m != nil && d.File == "" {
		d.File = p.at.relative(strings.ReplaceAll(m[1], `\`, "/"))
		d.Line, _ = strconv.Atoi(m[2])
	}
	if text == "" || strings.HasPrefix(text, "warning:") {
		p.lines = 0
	} else if len(d.Message) < maxExcerpt {
		d.Message += "\n" + text
	}
}

// ended closes the program that ran. If it printed fewer results than announced, it died.
func (p *cargoTests) ended() {
	p.flush()
	if p.left > 0 {
		id := session.TestID(p.unit)
		if p.open != "" {
			id = p.id(p.open)
		}
		p.Set(id, session.TestError)
		p.Say(id, fmt.Sprintf("the test program ended with %d results missing", p.left))
	}
	p.left, p.open = 0, ""
}

func (p *cargoTests) finish() {
	p.ended()
	waits := slices.ContainsFunc(p.diags,
		func(d cargoError) bool { return d.Missing != "" || misfit(d.File, d.Message) != "" })
	for _, d := range p.diags {
		if d.follows && waits {
			continue
		}
		if d.Unit = session.TestID(d.File); d.File == "" {
			d.Unit = session.TestID(p.crate)
		}
		d.Message = p.at.Without(d.Message)
		p.Breaks(d.Breakage)
	}
	if p.stop != "" && len(p.diags) == 0 {
		p.Breaks(Breakage{Unit: session.TestID(p.crate), Message: p.stop, Build: true})
	}
}
