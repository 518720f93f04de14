package report

import (
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// jestReport is the report of `jest --json` and of Vitest's json reporter.
type jestReport struct {
	Files []jestFile `json:"testResults"`
}

type jestFile struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Status  string `json:"status"`
	Tests   []struct {
		Suites   []string `json:"ancestorTitles"`
		Title    string   `json:"title"`
		Status   string   `json:"status"`
		Failures []string `json:"failureMessages"`
	} `json:"assertionResults"`
}

func readJest(r results, data []byte) string {
	return jsonDocuments(data, "testResults", func(report jestReport) {
		for _, f := range report.Files {
			r.jestFile(f)
		}
		r.NoTests = r.NoTests || len(report.Files) == 0
	})
}

// jestFile reads the results of one test file. Ids have the form "src/calc.test.js::suite > test".
func (r *results) jestFile(f jestFile) {
	name := r.at.relative(f.Name)
	failed := f.Status == "failed"
	for _, t := range f.Tests {
		title := ""
		for _, s := range t.Suites {
			if s = testName(s); s != "" {
				title += s + SuiteSep
			}
		}
		failed = failed && t.Status != "failed"
		r.addJSON(name, title+testName(t.Title), t.Status, strings.Join(t.Failures, "\n"))
	}
	switch {
	case failed && len(f.Tests) == 0:
		r.unloaded(name, name, f.Message, unknownInScripts)
	case failed: // an error outside of all tests
		id := session.TestID(testName(name))
		r.Set(id, session.TestError)
		r.Say(id, r.at.Without(f.Message))
	}
}

// addJSON records the result of a test in a file. It counts tests with any unknown status as skipped, because test
// runners have many words for that.
func (r *results) addJSON(file, name, status, message string) {
	s, ran := statuses[status]
	if !ran {
		s = session.TestSkip
	}
	id := r.add(session.TestID(testName(file+"::"+name)), s, message)
	if bad(s) && len(r.Files) < maxTests {
		r.Files[id] = file
	}
}

// rspecReport is the report of `rspec --format json`.
type rspecReport struct {
	Messages []string `json:"messages"`
	Examples []struct {
		Name      string `json:"full_description"`
		Status    string `json:"status"`
		File      string `json:"file_path"`
		Exception struct {
			Class     string   `json:"class"`
			Message   string   `json:"message"`
			Backtrace []string `json:"backtrace"`
		} `json:"exception"`
	} `json:"examples"`
	Summary struct {
		Outside int `json:"errors_outside_of_examples_count"`
	} `json:"summary"`
}

// rspecUnnamed matches the name of an example without a description. RSpec names it after its line, which may change.
var rspecUnnamed = newForm("example at ", `^(.*):`)

// rspecLoad matches the beginning of a message about a file that could not be loaded.
var rspecLoad = newForm("occurred while loading ", `occurred while loading (.*?\.rb)`)

// readRSpec reads RSpec's report. Ids have the form "spec/calc_spec.rb::Calc adds".
func readRSpec(r results, data []byte) string {
	return jsonDocuments(data, "examples", func(report rspecReport) {
		for _, e := range report.Examples {
			name := testName(e.Name)
			if m := rspecUnnamed.find(name); m != nil {
				name = m[1]
			}
			message := e.Exception.Class + ": " + e.Exception.Message
			for _, line := range e.Exception.Backtrace {
				if rel := r.at.relative(line); rel != line {
					message += "\n" + rel
				}
			}
			r.addJSON(cleanPath(r.at.relative(e.File)), name, e.Status, message)
		}
		for _, message := range report.Messages {
			if m := rspecLoad.find(message); m != nil && report.Summary.Outside > 0 {
				file := cleanPath(r.at.relative(m[1]))
				r.unloaded(file, file, message, unknownInRuby)
			}
		}
		r.NoTests = r.NoTests || len(report.Examples) == 0 && report.Summary.Outside == 0
	})
}
