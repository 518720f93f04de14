package agents

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Lines calls Line for each line of a stream, cut to Most bytes.
type Lines struct {
	Most int
	Line func(string)
	part []byte // of an unfinished line
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

// Flush passes on the unfinished last line.
func (l *Lines) Flush() {
	l.Line(string(l.part))
	l.part = l.part[:0]
}

// text reads agents that print for people: every line is a message, and only the exit code shows how the run went.
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

// bounded returns s as valid UTF-8, cut at a rune to at most `most` bytes.
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

// lazy compiles a pattern at its first use: most commands need none.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
