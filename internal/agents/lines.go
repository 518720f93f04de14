package agents

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Lines is a writer that calls Line for each line of the bytes written to it. Longer lines are cut to Most bytes.
type Lines struct {
	Most int
	Line func(string)
	part []byte // beginning of a line whose end has not arrived yet
}

func (l *Lines) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		l.part = append(l.part, line[:min(len(line), l.Most-len(l.part))]...)
		if ended {
			l.Flush()
		}
		rest = after
	}
	return len(p), nil
}

// Flush calls Line with the text after the last newline, which may be empty.
func (l *Lines) Flush() {
	l.Line(string(l.part))
	l.part = l.part[:0]
}

// text decodes agents that print for people. Every line becomes a Text event. Only how the process
// ended shows how the run went.
type text struct {
	Lines
	last string
}

func newText(o Options) Decoder {
	t := &text{}
	t.Lines = Lines{Most: MaxText, Line: func(line string) {
		if line = strings.TrimSpace(bounded(line, MaxText)); line != "" {
			t.last = line
			o.Emit(Event{Kind: Text, Text: line})
		}
	}}
	return t
}

func (t *text) End(e Exit) Outcome {
	t.Flush()
	o := Outcome{Class: OK, Last: t.last}
	switch {
	case e.Stopped || e.Signal != "":
		o.Class = Interrupted
	case e.Code != 0:
		o.Class, o.Message = Crashed, oneLine(t.last, maxMessage)
	}
	return o
}

// bounded returns s as valid UTF-8, cut between runes to at most `most` bytes.
func bounded(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

var colours = lazy(`\x1b\[[^@-~]*[@-~]?`)

// oneLine returns s as one line of at most `most` bytes, without colours and control characters.
func oneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, colours().ReplaceAllString(bounded(s, 4*most), ""))
	return strings.TrimSpace(bounded(strings.Join(strings.Fields(s), " "), most))
}

// lastLine returns the last line that is not blank.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return oneLine(s[strings.LastIndexByte(s, '\n')+1:], maxMessage)
}

// lazy returns a function that compiles the pattern at its first call, because most commands of wfs need none.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
