package report

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// Place is the work tree under the names by which tools print it: absolute, with slashes. Evidence must be the same in
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

// Without takes the work tree's path from a text.
func (at Place) Without(s string) string {
	for _, root := range at {
		s = strings.ReplaceAll(s, "file://"+root+"/", "./")
		s = strings.ReplaceAll(s, root+"/", "./")
	}
	return s
}

// maxTextLine bounds one printed line; results stand at the beginning or the end of far shorter ones.
const maxTextLine = 16 << 10

// lineFeed cuts what is written to it into lines without control characters. Of a line that is too long the end is
// dropped. Lines that come together share their memory: whoever keeps one clones it.
type lineFeed struct {
	to   func(string)
	most int // bytes of a line
	part []byte
}

func (l *lineFeed) Write(b []byte) (int, error) {
	n := len(b)
	if len(l.part) > 0 {
		line, rest, ended := bytes.Cut(b, []byte{'\n'})
		l.begin(line)
		if !ended {
			return n, nil
		}
		l.close()
		b = rest
	}
	end := bytes.LastIndexByte(b, '\n') + 1
	l.lines(string(b[:end]))
	l.begin(b[end:])
	return n, nil
}

func (l *lineFeed) begin(line []byte) {
	l.part = append(l.part, line[:min(len(line), l.most-len(l.part))]...)
}

func (l *lineFeed) lines(text string) {
	for text = safetext.Strip(text); text != ""; {
		line, rest, _ := strings.Cut(text, "\n")
		if len(line) > l.most {
			line = safetext.Strip(line[:l.most]) // it may end in half a character now
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

// Beginning keeps the first bytes of what is written to it.
type Beginning struct {
	Most int
	Text []byte
}

func (b *Beginning) Write(p []byte) (int, error) {
	b.Text = append(b.Text, p[:min(len(p), b.Most-len(b.Text))]...)
	return len(p), nil
}

// End keeps the last bytes of what is written to it: at least Most, but for a word that would be cut. A nil one
// is empty.
type End struct {
	Most int
	text []byte
}

func (e *End) Write(p []byte) (int, error) {
	e.text = append(e.text, p...)
	if cut := len(e.text) - e.Most; cut > e.Most {
		cut += max(0, bytes.IndexAny(e.text[cut:], " \t\n")) // half a word may be half a secret
		e.text = slices.Delete(e.text, 0, cut)
	}
	return len(p), nil
}

func (e *End) String() string {
	if e == nil {
		return ""
	}
	return string(e.text)
}

// form is a regular expression for lines that all contain a fixed text. Lines without the text are passed over before the
// expression runs, because output can be a flood. It is compiled when it is first needed.
type form struct {
	has string
	re  func() *regexp.Regexp
}

func newForm(has, re string) form {
	return form{has, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(re) })}
}

// find returns the parts of a line, nil if it does not fit. They may be kept.
func (f form) find(line string) []string {
	if !strings.Contains(line, f.has) {
		return nil
	}
	m := f.re().FindStringSubmatch(line)
	for i, part := range m {
		m[i] = strings.Clone(part)
	}
	return m
}
