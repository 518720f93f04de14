package report

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// cargoTests reads the output of `cargo test`: lines of cargo about the test program that runs ("Running
// tests/it.rs (…)"), lines of this program ("test a::b ... ok"), and lines of the compiler. The order of lines of both
// output streams matters, so both go into one pipe.
//
// The id of a test consists of the crate, the test program and the name: "calc/it::adds", "calc/doc::src/lib.rs -
// add". The unit tests of the crate itself have no program: "calc::tests::adds".
type cargoTests struct {
	results
	crate string // the crate whose unit tests ran last
	unit  string // crate and program that run now
	open  string // a test that has begun and has no result yet
	left  int    // number of results that the program still has to print
	diags []cargoError
	lines int    // number of lines that may still belong to the last error in diags
	stop  string // cargo's message that compiling failed
}

// cargoError is a compiler error.
type cargoError struct {
	Breakage
	follows bool // the error says that a type cannot be inferred, which always follows from another error
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

// program records which program the next tests belong to.
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

// result reads "test NAME ... ok". The test may have printed text before its result.
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

// id returns the id of a test. It leaves out line numbers, which change with the file.
func (p *cargoTests) id(name string) session.TestID {
	name = strings.TrimSuffix(name, " - should panic")
	if i := strings.LastIndex(name, " (line "); i > 0 {
		name = name[:i]
	}
	return session.TestID(p.unit + "::" + testName(name))
}

// compiler reads a line of a compiler error, and reports whether the line was one.
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

// more reads a line below a compiler error: the position in the file, or a note.
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

// ended ends the results of the current test program. If results are still missing, the program died, and the open
// test gets an error.
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
