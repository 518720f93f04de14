package phases

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows"
)

// lineParser reads results out of what a gate prints.
type lineParser interface {
	line(text string) // without control characters and its line feed, cut after maxTextLine bytes
	finish() *report
}

// fileParser reads results out of documents.
type fileParser interface {
	parse(io.Reader) // one stream, to its end
	finish() *report
}

// lineParserOf is the table of the formats that are printed line by line; nil for all others. `go test -json` has its own
// parser, because its lines are JSON and its two streams differ.
func lineParserOf(f workflows.Format, at place) lineParser {
	switch f {
	case workflows.FormatCargo:
		return newCargoParser(at)
	case workflows.FormatUnittest:
		return newUnittestParser(at)
	case workflows.FormatMinitest:
		return newMinitestParser(at)
	case workflows.FormatTAP:
		return newTAPParser(at)
	}
	return nil
}

// fileParserOf is the table of the formats that are documents; nil for all others.
func fileParserOf(f workflows.Format, at place) fileParser {
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
type place []string

// relative takes the work tree's path from the beginning of a name.
func (at place) relative(name string) string {
	for _, root := range at {
		if rest, ok := strings.CutPrefix(strings.ReplaceAll(name, `\`, "/"), root+"/"); ok {
			return rest
		}
	}
	return name
}

// without takes the work tree's path from a text.
func (at place) without(s string) string {
	for _, root := range at {
		s = strings.ReplaceAll(s, "file://"+root+"/", "./")
		s = strings.ReplaceAll(s, root+"/", "./")
	}
	return s
}

// maxTextLine bounds one printed line; results stand at the beginning or the end of far shorter ones.
const maxTextLine = 16 << 10

// lineFeed cuts what is written to it into lines. Of a line that is too long the end is dropped.
type lineFeed struct {
	mu   sync.Mutex
	to   func(string)
	part []byte
	done bool
}

func (l *lineFeed) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(b)
	for len(b) > 0 && !l.done { // done: from a process that outlived the run
		line, rest, ended := bytes.Cut(b, []byte{'\n'})
		l.part = append(l.part, line[:min(len(line), maxTextLine-len(l.part))]...)
		if ended {
			l.flush()
		}
		b = rest
	}
	return n, nil
}

func (l *lineFeed) flush() {
	l.to(strings.TrimRight(safetext.Strip(string(l.part)), "\r\n"))
	l.part = l.part[:0]
}

// close hands on what stands after the last line feed.
func (l *lineFeed) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.part) > 0 {
		l.flush()
	}
	l.done = true
}

// printedDocument parses a document while it is printed.
type printedDocument struct {
	w    *io.PipeWriter
	done chan *report
}

func startDocument(p fileParser) *printedDocument {
	r, w := io.Pipe()
	d := &printedDocument{w: w, done: make(chan *report, 1)}
	go func() {
		p.parse(r)
		_, _ = io.Copy(io.Discard, r)
		_ = r.Close()
		d.done <- p.finish()
	}()
	return d
}

func (d *printedDocument) Write(b []byte) (int, error) { return d.w.Write(b) }

func (d *printedDocument) finish() *report {
	_ = d.w.Close()
	return <-d.done
}
