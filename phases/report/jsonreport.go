package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Bounds of a report in JSON, which is read as a whole.
const (
	maxJSONReport = 64 << 20
	maxJSONTries  = 100 // beginnings of an object that are tried
)

// jsonDocuments reads the JSON objects of a stream that have a key, past whatever else was printed around them.
func jsonDocuments(r io.Reader, key string, read func([]byte) error) (damage string) {
	data, err := io.ReadAll(io.LimitReader(r, maxJSONReport+1))
	if err != nil || len(data) > maxJSONReport {
		_, _ = io.Copy(io.Discard, r)
		return fmt.Sprintf("it is larger than %d bytes", maxJSONReport)
	}
	mark := []byte(`"` + key + `"`)
	for tries := 0; tries < maxJSONTries && bytes.Contains(data, mark); {
		data = bytes.TrimLeft(data, " \t\r\n")
		if data[0] == '{' {
			tries++
			dec := json.NewDecoder(bytes.NewReader(data))
			var doc json.RawMessage
			if dec.Decode(&doc) == nil {
				if bytes.Contains(doc, mark) && read(doc) != nil {
					damage = "it does not match the format"
				}
				data = data[dec.InputOffset():]
				continue
			}
		}
		_, data, _ = bytes.Cut(data, []byte{'\n'})
		if !bytes.Contains(data, mark) {
			damage = "it is truncated or malformed"
		}
	}
	return damage
}

// jestParser reads the report of `jest --json` and of Vitest's json reporter. An id is "src/calc.test.js::suite > test".
type jestParser struct {
	r    *Report
	at   Place
	seen map[session.TestID]int
}

func newJestParser(at Place) *jestParser {
	return &jestParser{r: New(), at: at, seen: map[session.TestID]int{}}
}

type jestReport struct {
	Files []jestFile `json:"testResults"`
}

type jestFile struct {
	Name    string     `json:"name"`
	Message string     `json:"message"`
	Status  string     `json:"status"`
	Tests   []jestTest `json:"assertionResults"`
}

type jestTest struct {
	Suites   []string `json:"ancestorTitles"`
	Title    string   `json:"title"`
	Status   string   `json:"status"`
	Failures []string `json:"failureMessages"`
}

func (p *jestParser) parse(in io.Reader) {
	damage := jsonDocuments(in, "testResults", func(doc []byte) error {
		var report jestReport
		if err := json.Unmarshal(doc, &report); err != nil {
			return err
		}
		for _, f := range report.Files {
			p.file(f)
		}
		p.r.NoTests = p.r.NoTests || len(report.Files) == 0
		return nil
	})
	if p.r.Damaged == "" {
		p.r.Damaged = damage
	}
}

func (p *jestParser) file(f jestFile) {
	name := p.at.relative(f.Name)
	if len(f.Tests) == 0 {
		if f.Status == "failed" {
			message := p.at.Without(safetext.Strip(f.Message))
			p.r.Breaks(Breakage{Unit: session.TestID(testName(name)), File: name, Missing: MissingInScript(message), Message: message})
		}
		return
	}
	failed := false
	for _, t := range f.Tests {
		title := ""
		for _, s := range t.Suites {
			if s = testName(s); s != "" {
				title += s + SuiteSep
			}
		}
		id := session.TestID(testName(name + "::" + title + testName(t.Title)))
		if p.seen[id]++; p.seen[id] > 1 {
			id = session.TestID(fmt.Sprintf("%s#%d", id, p.seen[id]))
		}
		switch t.Status {
		case "passed":
			p.r.Set(id, session.TestPass)
		case "failed":
			failed = true
			p.r.Set(id, session.TestFail)
			if len(p.r.Files) < maxTests {
				p.r.Files[id] = name
			}
			message := ""
			for _, m := range t.Failures {
				message += m + "\n"
			}
			p.r.Say(id, p.at.Without(safetext.Strip(message)))
		default: // pending, skipped, todo, disabled
			p.r.Set(id, session.TestSkip)
		}
	}
	if f.Status == "failed" && !failed { // something outside of all tests
		id := session.TestID(testName(name))
		p.r.Set(id, session.TestError)
		p.r.Say(id, p.at.Without(safetext.Strip(f.Message)))
	}
}

func (p *jestParser) finish() *Report { return p.r }

// rspecParser reads the report of `rspec --format json`. An id is "spec/calc_spec.rb::Calc adds".
type rspecParser struct {
	r    *Report
	at   Place
	seen map[session.TestID]int
}

func newRSpecParser(at Place) *rspecParser {
	return &rspecParser{r: New(), at: at, seen: map[session.TestID]int{}}
}

type rspecReport struct {
	Messages []string       `json:"messages"`
	Examples []rspecExample `json:"examples"`
	Summary  struct {
		Outside int `json:"errors_outside_of_examples_count"`
	} `json:"summary"`
}

type rspecExample struct {
	Name      string `json:"full_description"`
	Status    string `json:"status"`
	File      string `json:"file_path"`
	Exception struct {
		Class     string   `json:"class"`
		Message   string   `json:"message"`
		Backtrace []string `json:"backtrace"`
	} `json:"exception"`
}

func (p *rspecParser) parse(in io.Reader) {
	damage := jsonDocuments(in, "examples", func(doc []byte) error {
		var report rspecReport
		if err := json.Unmarshal(doc, &report); err != nil {
			return err
		}
		for _, e := range report.Examples {
			p.example(e)
		}
		if report.Summary.Outside > 0 {
			for _, m := range report.Messages {
				p.outside(safetext.Strip(m))
			}
		}
		p.r.NoTests = p.r.NoTests || len(report.Examples) == 0 && report.Summary.Outside == 0
		return nil
	})
	if p.r.Damaged == "" {
		p.r.Damaged = damage
	}
}

func (p *rspecParser) example(e rspecExample) {
	file := cleanPath(p.at.relative(e.File))
	name := testName(e.Name)
	if i := strings.LastIndexByte(name, ':'); i > 0 && strings.Contains(name, "example at ") {
		name = name[:i] // an example without a description is named by its line
	}
	id := session.TestID(testName(file + "::" + name))
	if p.seen[id]++; p.seen[id] > 1 {
		id = session.TestID(fmt.Sprintf("%s#%d", id, p.seen[id]))
	}
	switch e.Status {
	case "passed":
		p.r.Set(id, session.TestPass)
	case "failed":
		p.r.Set(id, session.TestFail)
		if len(p.r.Files) < maxTests {
			p.r.Files[id] = file
		}
		message := e.Exception.Class + ": " + e.Exception.Message
		for _, line := range e.Exception.Backtrace {
			if rel := p.at.relative(line); rel != line {
				message += "\n" + rel
			}
		}
		p.r.Say(id, p.at.Without(safetext.Strip(message)))
	default: // pending
		p.r.Set(id, session.TestSkip)
	}
}

// outside reads "An error occurred while loading ./spec/b_spec.rb." and the reason behind it.
func (p *rspecParser) outside(message string) {
	file, ok := Between(message, "occurred while loading ", ".rb")
	if !ok {
		return
	}
	file = cleanPath(p.at.relative(file + ".rb"))
	message = p.at.Without(message)
	p.r.Breaks(Breakage{Unit: session.TestID(testName(file)), File: file, Missing: missingInRuby(message), Message: message, Build: true})
}

func (p *rspecParser) finish() *Report { return p.r }
