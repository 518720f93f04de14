package redact

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
)

// Bounds of what a Stream keeps back, in bytes.
const (
	longest = 64 << 10 // of a line, before its beginning is passed on
	held    = 4 << 10  // of such a line: longer secrets are not found where they are torn
)

// Stream redacts what is written to it in pieces. It passes on whole lines, so that a secret which comes in
// several writes is found; the last line waits for Close. The memory is bounded.
type Stream struct {
	r     *Redactor
	w     io.Writer
	forms io.Writer // nil: nobody reads the values of the environment
	rest  []byte    // not passed on yet
	key   keyState
}

// Stream returns one that writes to w.
func (r *Redactor) Stream(w io.Writer) *Stream { return &Stream{r: r, w: w} }

// Streams returns one that writes to two: what String leaves to w, and what String of Forms leaves to forms. It
// looks for secrets once.
func (r *Redactor) Streams(w, forms io.Writer) *Stream { return &Stream{r: r, w: w, forms: forms} }

// Write returns the errors of the writer below. p is always taken as a whole.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part := p[:min(len(p), longest)] // a large write needs no large copy
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

// Close passes on the rest. It does not close the writer below.
func (s *Stream) Close() error { return s.lines(len(s.rest)) }

// lines passes on what ends there.
func (s *Stream) lines(end int) error {
	text := string(s.rest[:end])
	err := s.pass(text, s.r.find(text, &s.key))
	s.rest = append(s.rest[:0], s.rest[end:]...)
	return err
}

// piece passes on the beginning of a line that is too long to wait for its end. It is cut before a secret, not in one.
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
	s.key.find(plain, nil) // where what is passed on ends
	err := s.pass(text[:cut], slices.DeleteFunc(found, func(f span) bool { return f.end > cut }))
	s.rest = append(s.rest[:0], text[cut:]...)
	return err
}

// Reader returns one that reads from another, without secrets.
func (r *Redactor) Reader(from io.Reader) io.Reader {
	read := &reader{from: from}
	read.safe = r.Stream(&read.ready)
	return read
}

type reader struct {
	from  io.Reader
	safe  *Stream
	ready bytes.Buffer
	err   error // of from, once all that came before is ready
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

// pass writes a text without what was found in it. It is the beginning of what is kept back.
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

// without is a text with the marks in place of what was found. Of several secrets that overlap the first one
// gives the mark.
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
