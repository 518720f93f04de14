package agents

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// text reads agents that print for people: every line is something said, and only the exit code tells how it went.
type text struct {
	o    Options
	line []byte
	long bool // the rest of the line is passed over
	last string
}

func newText(o Options) Decoder { return &text{o: o} }

func (t *text) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		head, rest, ended := bytes.Cut(p, []byte{'\n'})
		if room := MaxText - len(t.line); !t.long {
			t.line = append(t.line, head[:min(len(head), room)]...)
			t.long = len(head) > room
		}
		if ended {
			t.flush()
		}
		p = rest
	}
	return n, nil
}

func (t *text) flush() {
	if line := strings.TrimSpace(bounded(string(t.line), MaxText)); line != "" {
		t.last = line
		t.o.Emit(Event{Kind: Text, Text: line})
	}
	t.line, t.long = t.line[:0], false
}

func (t *text) End(e Exit) Outcome {
	t.flush()
	o := Outcome{Class: OK, Last: t.last}
	switch {
	case e.Stopped || e.Signal != "":
		o.Class = Interrupted
	case e.Code != 0:
		o.Class, o.Message = Crashed, t.last
	}
	return o
}

// bounded cuts a text at a rune, so that it has at most so many bytes, all of them valid.
func bounded(s string, most int) string {
	if len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
