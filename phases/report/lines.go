package report

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// Place has the paths of the work tree as tools may print them: absolute, with slashes. The paths are removed from
// names and messages, because results must be the same in every clone.
type Place []string

// relative removes the path of the work tree from the beginning of a name.
func (at Place) relative(name string) string {
	for _, root := range at {
		if rest, ok := strings.CutPrefix(strings.ReplaceAll(name, `\`, "/"), root+"/"); ok {
			return rest
		}
	}
	return name
}

// Without replaces the path of the work tree in a text by "./".
func (at Place) Without(s string) string {
	for _, root := range at {
		s = strings.ReplaceAll(s, "file://"+root+"/", "./")
		s = strings.ReplaceAll(s, root+"/", "./")
	}
	return s
}

// maxTextLine limits one line of output, in bytes. Lines with results are far shorter.
const maxTextLine = 16 << 10

// lineFeed splits its input into lines, and removes control characters. It drops the end of a line that is too long.
// The lines share memory with each other, so a function that keeps one must clone it.
type lineFeed struct {
	to   func(string)
	most int // limit of one line in bytes
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
			line = safetext.Strip(line[:l.most]) // the cut may have split a character
		}
		l.to(line)
		text = rest
	}
}

// close passes on the last line if it has no line feed.
func (l *lineFeed) close() {
	if len(l.part) > 0 {
		l.lines(string(l.part) + "\n")
		l.part = l.part[:0]
	}
}

// Beginning keeps the first Most bytes that are written to it.
type Beginning struct {
	Most int
	Text []byte
}

func (b *Beginning) Write(p []byte) (int, error) {
	b.Text = append(b.Text, p[:min(len(p), b.Most-len(b.Text))]...)
	return len(p), nil
}

// End keeps the last bytes that are written to it: at least Most, except that it does not begin in the middle of a
// word. A nil End is empty.
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

// form is a regular expression for lines that contain a certain text. Lines without this text are skipped before the
// expression runs, because there may be very many lines. The expression is compiled when it is first used.
type form struct {
	has string
	re  func() *regexp.Regexp
}

func newForm(has, re string) form {
	return form{has, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(re) })}
}

// find returns the submatches of a line; nil if the line does not match. They are copies, so the caller may keep them.
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
