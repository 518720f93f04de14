package report

import (
	"fmt"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/session"
)

// minitestParser reads what Minitest prints with -v ("CalcTest#test_adds = 0.00 s = ."), the failures that follow, and
// Ruby's last word about a file that it could not load.
type minitestParser struct {
	r     *Report
	at    Place
	open  session.TestID // what is running: a test may print between its name and its result
	said  *quote
	seen  map[session.TestID]int
	heard int  // lines since a failure's number
	ended bool // the sum was printed
	load  *Breakage
}

func newMinitestParser(at Place) *minitestParser {
	return &minitestParser{r: New(), at: at, seen: map[session.TestID]int{}}
}

var minitestRE = sync.OnceValue(func() (r struct{ test, result, number, name, sum, load, numbered lineForm }) {
	r.test = newLineForm("#test_", `^(\S.*?)#(test_\S.*?) = (.*)$`)
	r.result = newLineForm(" s = ", `[\d.]+ s = ([.FES])$`)
	r.number = newLineForm(") ", `^ +\d+\) (Failure|Error|Skipped):$`)
	r.name = newLineForm("#test_", `^(\S.*?)#(test_\S.*?)(?: \[.*:\d+\])?:$`)
	r.numbered = newLineForm("test_", `^test_\d{4}_(.+)$`)
	r.sum = newLineForm(" assertions, ", `^(\d+) (?:runs|tests), \d+ assertions, `)
	r.load = newLineForm(".rb:", `^(\S.*?\.rb):\d+:in .*?[': ](.*)\((\w+(?:::\w+)*)\)$`)
	return r
})

func (p *minitestParser) line(text string) {
	re := minitestRE()
	if m := re.sum.find(text); m != nil {
		p.flush()
		p.ended, p.r.NoTests = true, m[1] == "0"
		return
	}
	if m := re.number.find(text); m != nil {
		p.flush()
		p.said, p.heard = &quote{}, 0
		return
	}
	if p.said != nil {
		if p.heard++; p.heard == 1 {
			if m := re.name.find(text); m != nil {
				p.said.id = minitestID(m[1], m[2])
			}
			return
		}
		p.said.add(text)
		return
	}
	if m := re.test.find(text); m != nil {
		p.open = minitestID(m[1], m[2])
		text = m[3]
	}
	if p.open != "" {
		if m := re.result.find(text); m != nil {
			p.close(m[1])
		}
		return
	}
	if m := re.load.find(text); m != nil && p.load == nil {
		file := p.at.relative(strings.ReplaceAll(m[1], `\`, "/"))
		p.load = &Breakage{Unit: session.TestID(file), File: file, Message: m[0], Missing: missingInRuby(m[0])}
	} else if p.load != nil && len(p.load.Message) < MaxExcerpt {
		p.load.Message += "\n" + text
		if file, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "from "), ":"); ok && strings.HasSuffix(file, ".rb") && !testpaths.HoldsTests(p.load.File) && testpaths.HoldsTests(file) {
			p.load.File = p.at.relative(file) // it was loaded from there
			p.load.Unit = session.TestID(p.load.File)
		}
	}
}

// minitestID leaves out the number that Minitest gives to an `it`: it changes when another one is put in front.
func minitestID(class, name string) session.TestID {
	if m := minitestRE().numbered.find(name); m != nil {
		name = m[1]
	}
	return session.TestID(testName(class + "::" + name))
}

func (p *minitestParser) close(result string) {
	id := p.open
	p.open = ""
	if p.seen[id]++; p.seen[id] > 1 {
		id = session.TestID(fmt.Sprintf("%s#%d", id, p.seen[id]))
	}
	switch result {
	case ".":
		p.r.Set(id, session.TestPass)
	case "F":
		p.r.Set(id, session.TestFail)
	case "E":
		p.r.Set(id, session.TestError)
		if len(p.r.Raised) < maxTests {
			p.r.Raised[id] = true
		}
	case "S":
		p.r.Set(id, session.TestSkip)
	}
}

func (p *minitestParser) flush() {
	if p.said != nil && p.said.id != "" && bad(p.r.Tests[p.said.id]) {
		p.r.Say(p.said.id, p.at.Without(p.said.text.String()))
	}
	p.said = nil
}

func (p *minitestParser) finish() *Report {
	p.flush()
	if p.open != "" {
		p.r.Set(p.open, session.TestError)
		p.r.Say(p.open, "it was running when the test process exited")
	}
	if p.load != nil && !p.ended {
		p.load.Message = p.at.Without(p.load.Message)
		p.r.Breaks(*p.load)
	} else if !p.ended && len(p.r.Tests) > 0 {
		p.r.Damaged = "its end is missing"
	}
	return p.r
}
