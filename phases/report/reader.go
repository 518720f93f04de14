// Package report reads the output of test runners and compilers: the result of every test, and the units that could
// not be built or loaded.
package report

import (
	"io"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// lineParser parses output that has one result on each line.
type lineParser interface {
	line(text string)
	finish() // completes the report
}

// lineParsers has the parsers for formats that are read line by line. `go test -json` is not among them, because its
// standard output and standard error need different functions.
var lineParsers = map[workflows.Format]func(results) lineParser{
	workflows.FormatCargo:    func(r results) lineParser { return &cargoTests{results: r, crate: "crate", unit: "crate"} },
	workflows.FormatUnittest: func(r results) lineParser { return &unittests{results: r, ran: -1} },
	workflows.FormatMinitest: func(r results) lineParser { return &minitests{results: r} },
	workflows.FormatTAP:      func(r results) lineParser { return &tapTests{results: r, plan: -1} },
}

// documents has the functions for formats that are read as a whole. `damage` is the reason why the document may be
// incomplete; "" if there is none.
var documents = map[workflows.Format]func(r results, data []byte) (damage string){
	workflows.FormatJUnit: readJUnit,
	workflows.FormatJest:  readJest,
	workflows.FormatRSpec: readRSpec,
	workflows.FormatTRX:   readTRX,
}

// Reader makes a report from the output of one gate and from its report files.
type Reader struct {
	Stdout, Stderr io.Writer // the same writer if the order of their lines matters
	gate           workflows.Gate
	results        results
	feeds          []*lineFeed
	finish         func()
	printed        *Beginning // the beginning of standard output, which may be a document; nil if it is not
	compilers      *compilers
}

// NewReader returns a reader for a gate that runs in the given place. For `go test -json`, text receives the lines of
// output that the events contain.
func NewReader(g workflows.Gate, at Place, text func(string)) *Reader {
	r := &Reader{gate: g, results: newResults(at), compilers: &compilers{at: at}, finish: func() {}}
	to := r.compilers.line
	if parser := lineParsers[g.Format]; parser != nil {
		p := parser(r.results)
		r.finish = p.finish
		if to = p.line; g.Format != workflows.FormatCargo { // cargo's parser reads compiler errors itself
			to = func(line string) { p.line(line); r.compilers.line(line) }
		}
	}
	switch {
	case g.Format == workflows.FormatGoTest:
		p := newGoTests(r.results, text)
		r.Stdout, r.Stderr, r.finish = r.feed(p.line, maxLine), r.feed(p.plain, maxLine), p.finish
		return r
	case g.Format.InFiles() && g.Report == "":
		// Standard output is the report if the command does not write a file at $WFS_REPORT.
		r.printed = &Beginning{Most: maxDocument + 1}
		r.Stdout, r.Stderr = io.MultiWriter(r.feed(to, maxTextLine), r.printed), r.feed(to, maxTextLine)
		return r
	}
	r.Stdout = r.feed(to, maxTextLine)
	r.Stderr = r.Stdout
	return r
}

func (r *Reader) feed(to func(string), most int) io.Writer {
	f := &lineFeed{to: to, most: most}
	r.feeds = append(r.feeds, f)
	return f
}

// Count returns the number of tests whose result has been read so far.
func (r *Reader) Count() int { return len(r.results.Tests) }

// File reads a report file that the run wrote. Standard output is then no longer read as a report.
func (r *Reader) File(in io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(in, maxDocument+1))
	r.printed = nil
	r.document(data)
	return err
}

func (r *Reader) document(data []byte) {
	damage := tooLarge
	if len(data) <= maxDocument {
		damage = documents[r.gate.Format](r.results, data)
	}
	if r.results.Damaged == "" {
		r.results.Damaged = damage
	}
}

// Report completes the report and returns it. Call it after the gate has ended.
func (r *Reader) Report() *Report {
	for _, f := range r.feeds {
		f.close()
	}
	r.finish()
	if r.printed != nil {
		r.document(r.printed.Text)
	}
	return r.results.Report
}

// Explain adds compiler errors to the report of a gate that failed. `inTree` reports whether a file belongs to the
// project; errors in other files are left out.
func (r *Reader) Explain(inTree func(file string) bool) {
	r.compilers.explain(r.results.Report, inTree)
}

// bad reports whether a test failed or had an error.
func bad(s session.TestStatus) bool { return s == session.TestFail || s == session.TestError }
