package report

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows"
)

// lineParser reads results out of what a gate prints.
type lineParser interface {
	line(text string) // without control characters and its line feed, cut after maxTextLine bytes; see lineFeed
	finish() *Report
}

// fileParser reads results out of documents.
type fileParser interface {
	parse(io.Reader) // one stream, to its end
	finish() *Report
}

// lineParserOf is the table of the formats that are printed line by line; nil for all others. `go test -json` has its own
// parser, because its lines are JSON and its two streams differ. The report is filled while lines come.
func lineParserOf(f workflows.Format, at Place) (lineParser, *Report) {
	switch f {
	case workflows.FormatCargo:
		p := newCargoParser(at)
		return p, p.r
	case workflows.FormatUnittest:
		p := newUnittestParser(at)
		return p, p.r
	case workflows.FormatMinitest:
		p := newMinitestParser(at)
		return p, p.r
	case workflows.FormatTAP:
		p := newTAPParser(at)
		return p, p.r
	}
	return nil, nil
}

// fileParserOf is the table of the formats that are documents; nil for all others.
func fileParserOf(f workflows.Format, at Place) fileParser {
	switch f {
	case workflows.FormatJUnit:
		return newJUnitParser(at...)
	case workflows.FormatJest:
		return newJestParser(at)
	case workflows.FormatRSpec:
		return newRSpecParser(at)
	case workflows.FormatTRX:
		return newTRXParser(at)
	}
	return nil
}

// place is the work tree under the names by which tools print it: absolute, with slashes. Evidence must be the same in
// every clone, so they are taken out of names and messages.
type Place []string

// relative takes the work tree's path from the beginning of a name.
func (at Place) relative(name string) string {
	for _, root := range at {
		if rest, ok := strings.CutPrefix(strings.ReplaceAll(name, `\`, "/"), root+"/"); ok {
			return rest
		}
	}
	return name
}

// without takes the work tree's path from a text.
func (at Place) Without(s string) string {
	for _, root := range at {
		s = strings.ReplaceAll(s, "file://"+root+"/", "./")
		s = strings.ReplaceAll(s, root+"/", "./")
	}
	return s
}

// maxTextLine bounds one printed line; results stand at the beginning or the end of far shorter ones.
const maxTextLine = 16 << 10

// lineFeed cuts what is written to it into lines. Of a line that is too long the end is dropped. Lines that come together share
// their memory: whoever keeps one clones it.
type lineFeed struct {
	to   func(string)
	part []byte
}

func (l *lineFeed) Write(b []byte) (int, error) {
	if bytes.IndexByte(b, '\n') >= 0 {
		return l.WriteString(string(b))
	}
	l.begin(b)
	return len(b), nil
}

// WriteString is Write.
func (l *lineFeed) WriteString(text string) (int, error) {
	n := len(text)
	if len(l.part) > 0 {
		line, rest, ended := strings.Cut(text, "\n")
		l.begin([]byte(line))
		if !ended {
			return n, nil
		}
		l.close()
		text = rest
	}
	end := strings.LastIndexByte(text, '\n') + 1
	l.lines(text[:end])
	l.begin([]byte(text[end:]))
	return n, nil
}

func (l *lineFeed) begin(line []byte) {
	l.part = append(l.part, line[:min(len(line), maxTextLine-len(l.part))]...)
}

func (l *lineFeed) lines(text string) {
	for text = safetext.Strip(text); text != ""; {
		line, rest, _ := strings.Cut(text, "\n")
		if len(line) > maxTextLine {
			line = safetext.Strip(line[:maxTextLine]) // it may end in half a character now
		}
		l.to(line)
		text = rest
	}
}

// close hands on what stands after the last line feed.
func (l *lineFeed) close() {
	if len(l.part) > 0 {
		l.lines(string(l.part) + "\n")
		l.part = l.part[:0]
	}
}

// lineForm is an expression for lines that all have a text in them: a line without it costs no expression, since a flood of
// output must not cost several of them a line.
type lineForm struct {
	has string
	re  *regexp.Regexp
}

func newLineForm(has, re string) lineForm { return lineForm{has, regexp.MustCompile(re)} }

// find returns the parts of a line, nil if it does not fit. They may be kept.
func (f lineForm) find(line string) []string {
	if !strings.Contains(line, f.has) {
		return nil
	}
	m := f.re.FindStringSubmatch(line)
	for i, part := range m {
		m[i] = strings.Clone(part)
	}
	return m
}

// printedDocument parses a document while it is printed.
type printedDocument struct {
	w    *io.PipeWriter
	done chan *Report
}

func startDocument(p fileParser) *printedDocument {
	r, w := io.Pipe()
	d := &printedDocument{w: w, done: make(chan *Report, 1)}
	go func() {
		p.parse(r)
		_, _ = io.Copy(io.Discard, r)
		_ = r.Close()
		d.done <- p.finish()
	}()
	return d
}

func (d *printedDocument) Write(b []byte) (int, error) { return d.w.Write(b) }

func (d *printedDocument) finish() *Report {
	_ = d.w.Close()
	return <-d.done
}
