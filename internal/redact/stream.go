package redact

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
)

// Bounds for the text that a Stream holds back, in bytes.
const (
	longest = 64 << 10 // of a line, before it passes on the start
	held    = 4 << 10  // kept of such a line: a longer secret is not found where the line is split
)

// Stream redacts text that is written in pieces. It passes on whole lines, so that it finds a secret that is split over
// several writes. An unfinished last line waits for Close. Its memory is bounded.
type Stream struct {
	r     *Redactor
	w     io.Writer
	forms io.Writer // nil: there is no second output
	rest  []byte    // not yet passed on
	key   keyState
}

// Stream returns a Stream that writes to w.
func (r *Redactor) Stream(w io.Writer) *Stream { return &Stream{r: r, w: w} }

// Streams returns a Stream with two outputs: w gets the same text as from String, and forms gets the text from Forms
// and String. It searches for secrets only once.
func (r *Redactor) Streams(w, forms io.Writer) *Stream { return &Stream{r: r, w: w, forms: forms} }

// Write returns errors of the underlying writers. It always consumes all of p.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part := p[:min(len(p), longest)] // so that a large write needs no large copy
		p = p[len(part):]
		s.rest = append(s.rest, part...)
		var err error
		if end := bytes.LastIndexByte(s.rest, '\n') + 1; end > 0 {
			err = s.lines(end)
		} else if len(s.rest) > longest {
			err = s.piece()
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Close passes on the rest. It does not close the underlying writers.
func (s *Stream) Close() error { return s.lines(len(s.rest)) }

// lines passes on the first end bytes.
func (s *Stream) lines(end int) error {
	text := string(s.rest[:end])
	err := s.pass(text, s.r.find(text, &s.key))
	s.rest = append(s.rest[:0], s.rest[end:]...)
	return err
}

// piece passes on the start of a line that is too long to hold back. It cuts before a secret, not within one.
func (s *Stream) piece() error {
	text := string(s.rest)
	key := s.key
	found := s.r.find(text, &key)
	cut, past := len(text)-held, 0
	for _, f := range merged(slices.Clone(found)) {
		if f.end <= cut {
			past = f.end
			continue
		}
		if from := max(f.from, past); from == 0 {
			cut = f.end
		} else {
			cut = min(cut, from)
		}
		break
	}
	plain, _ := withoutEscapes(text[:cut])
	s.key.find(plain, nil) // update key to the end of the passed text
	err := s.pass(text[:cut], slices.DeleteFunc(found, func(f span) bool { return f.end > cut }))
	s.rest = append(s.rest[:0], text[cut:]...)
	return err
}

// Reader returns a reader of from's content without secrets.
func (r *Redactor) Reader(from io.Reader) io.Reader {
	read := &reader{from: from}
	read.safe = r.Stream(&read.ready)
	return read
}

type reader struct {
	from  io.Reader
	safe  *Stream
	ready bytes.Buffer
	err   error // of from, set when all text before it is ready
}

func (r *reader) Read(p []byte) (int, error) {
	for r.ready.Len() == 0 && r.err == nil {
		var n int
		n, r.err = r.from.Read(p)
		_, _ = r.safe.Write(p[:n])
		if r.err != nil {
			_ = r.safe.Close()
		}
	}
	if r.ready.Len() == 0 {
		return 0, r.err
	}
	return r.ready.Read(p)
}

// pass writes a text without its secrets. The text is the first part of s.rest.
func (s *Stream) pass(text string, found []span) error {
	all := s.rest[:len(text)]
	if len(found) > 0 {
		all = []byte(without(text, found))
	}
	_, err := s.w.Write(all)
	if s.forms != nil {
		found = slices.DeleteFunc(found, func(f span) bool { return f.value })
		_, ferr := io.WriteString(s.forms, without(text, found))
		err = errors.Join(err, ferr)
	}
	return err
}

// without returns a text with marks in place of its secrets. If several overlap, the first one sets the mark.
func without(s string, found []span) string {
	if len(found) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, f := range found {
		if f.start >= at {
			b.WriteString(s[at:f.start])
			b.WriteString(f.mark)
		}
		at = max(at, f.end)
	}
	b.WriteString(s[at:])
	return b.String()
}
