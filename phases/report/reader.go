package report

import (
	"io"

	"github.com/wfs-dev/wfs/workflows"
)

// Reader makes a report of what one gate prints and writes.
type Reader struct {
	Stdout, Stderr io.Writer // the same one where lines of both have to stay in order
	live           *Report   // filled while lines come; nil for documents
	finish         func() *Report
	files          fileParser // what the run wrote to files; nil until there is one
	gate           workflows.Gate
	at             Place
	compiler       *buildErrors
}

// NewReader reads a gate that runs at a place. What `go test -json` wraps in events is passed on to text as lines.
func NewReader(g workflows.Gate, at Place, text func(string)) *Reader {
	r := &Reader{gate: g, at: at, compiler: newBuildErrors(at), finish: New}
	r.Stdout = r.compiler.stream()
	lines, live := lineParserOf(g.Format, at)
	switch {
	case g.Format == workflows.FormatGoTest:
		p := newGoParser(at[0], text)
		r.Stdout, r.Stderr, r.live, r.finish = p.stream(false), p.stream(true), p.r, p.finish
	case lines != nil:
		feed := &lineFeed{to: lines.line}
		r.live = live
		r.Stdout = io.MultiWriter(feed, r.Stdout)
		r.finish = func() *Report { feed.close(); return lines.finish() }
	case g.Format.InFiles() && g.Report == "":
		// Stdout may be the report, unless $WFS_REPORT turns out to be written.
		out := startDocument(fileParserOf(g.Format, at))
		r.Stdout, r.Stderr, r.finish = io.MultiWriter(r.Stdout, out), r.compiler.stream(), out.finish
	}
	if r.Stderr == nil {
		r.Stderr = r.Stdout
	}
	return r
}

// Count is the number of tests with a result so far, as far as it is known.
func (r *Reader) Count() int {
	if r.live == nil {
		return 0
	}
	return len(r.live.Tests)
}

// File reads a file that the run wrote. It counts instead of what the run printed.
func (r *Reader) File(in io.Reader) {
	if r.files == nil {
		r.files = fileParserOf(r.gate.Format, r.at)
	}
	r.files.parse(in)
}

// Report is what the gate said, after its end.
func (r *Reader) Report() *Report {
	printed := r.finish()
	if r.files != nil {
		return r.files.finish()
	}
	return printed
}

// Explain adds errors of compilers to a report of a gate that failed. inTree reports whether a file is one of the project.
func (r *Reader) Explain(to *Report, inTree func(file string) bool) {
	if r.gate.Format != workflows.FormatCargo {
		r.compiler.explain(to, inTree)
	}
}
