package report

import (
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/session"
)

// minitests reads the output of Minitest with -v: a line for each test ("CalcTest#test_adds = 0.00 s = ."), then the
// failures. It also reads Ruby's error about a file that could not be loaded.
type minitests struct {
	results
	open  session.TestID // the running test, which may print text between its name and its result
	ended bool           // set after the summary
	file  string         // the first file that could not be loaded
	error string         // the error about this file
}

var (
	minitestTest   = newForm("#test_", `^(\S.*?)#(?:test_\d{4}_(\S.*?)|(test_\S.*?)) = (.*)$`)
	minitestResult = newForm(" s = ", `[\d.]+ s = ([.FES])$`)
	minitestNumber = newForm(") ", `^ +\d+\) (?:Failure|Error|Skipped):$`)
	minitestName   = newForm("#test_", `^(\S.*?)#(?:test_\d{4}_(\S.*?)|(test_\S.*?))(?: \[.*:\d+\])?:$`)
	minitestSum    = newForm(" assertions, ", `^(\d+) (?:runs|tests), \d+ assertions, `)
	rubyLoad       = newForm(".rb:", `^(\S.*?\.rb):\d+:in .*?[': ](?:.*)\(\w+(?:::\w+)*\)$`)
	rubyFrom       = newForm(".rb:", `^\s*from (.*?\.rb):`)
)

func (p *minitests) line(text string) {
	if m := minitestSum.find(text); m != nil {
		p.flush()
		p.ended, p.NoTests = true, m[1] == "0"
		return
	}
	if minitestNumber.find(text) != nil {
		p.flush()
		p.said = &quote{}
		return
	}
	if p.said != nil {
		if m := minitestName.find(text); m != nil && p.said.id == "" {
			p.said.id = minitestID(m)
		} else {
			p.said.add(text)
		}
		return
	}
	if m := minitestTest.find(text); m != nil {
		p.open, text = minitestID(m), m[4]
	}
	if p.open != "" {
		if m := minitestResult.find(text); m != nil {
			p.close(m[1])
		}
		return
	}
	p.loadError(text)
}

// minitestID returns the id of a test. It leaves out the number that Minitest gives to an `it`, because this number
// changes when another `it` is inserted above.
func minitestID(m []string) session.TestID {
	return session.TestID(testName(m[1] + "::" + m[2] + m[3]))
}

func (p *minitests) close(result string) {
	status, ran := statuses[result]
	if !ran {
		status = session.TestSkip
	}
	id := p.add(p.open, status, "")
	if p.open = ""; status == session.TestError {
		p.raise(id)
	}
}

func (p *minitests) loadError(text string) {
	if m := rubyLoad.find(text); m != nil && p.file == "" {
		p.file, p.error = cleanPath(p.at.relative(m[1])), m[0]
	} else if p.file != "" && len(p.error) < maxExcerpt {
		p.error += "\n" + text
		if m := rubyFrom.find(text); m != nil && !testpaths.HoldsTests(p.file) && testpaths.HoldsTests(m[1]) {
			p.file = p.at.relative(m[1]) // the test file that loaded it
		}
	}
}

func (p *minitests) finish() {
	p.flush()
	p.died(p.open)
	if p.file != "" && !p.ended {
		p.unloaded(p.file, p.file, p.error, unknownInRuby)
	} else if !p.ended && len(p.Tests) > 0 {
		p.Damaged = "its end is missing"
	}
}
