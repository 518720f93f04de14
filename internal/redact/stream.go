package redact

import (
	"bytes"
	"io"
	"strings"
)

// Bounds of what a Stream keeps back, in bytes.
const (
	longest = 64 << 10 // of a line, before its beginning is passed on
	held    = 4 << 10  // of such a line: longer secrets are not found where they are torn
)

// Stream redacts what is written to it in pieces. It passes on whole lines, so that a secret which comes in several writes
// is found; the last line waits for Close. The memory is bounded.
type Stream struct {
	r    *Redactor
	w    io.Writer
	rest []byte // not passed on yet
	key  keyState
}

// Stream returns one that writes to w.
func (r *Redactor) Stream(w io.Writer) *Stream { return &Stream{r: r, w: w} }

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
	s.rest = append(s.rest[:0], s.rest[end:]...)
	return s.pass(text, s.r.find(text, &s.key))
}

// piece passes on the beginning of a line that is too long to wait for its end. It is cut before a secret, not in one.
func (s *Stream) piece() error {
	text := string(s.rest)
	key := s.key
	found := s.r.find(text, &key)
	cut := len(text) - held
	for i, f := range found {
		if f.end <= cut {
			continue
		}
		from := f.from
		if i > 0 {
			from = max(from, found[i-1].end)
		}
		if from == 0 {
			cut, found = f.end, found[:i+1]
		} else {
			cut, found = min(cut, from), found[:i]
		}
		break
	}
	s.rest = append(s.rest[:0], text[cut:]...)
	plain, _ := withoutEscapes(text[:cut])
	s.key.find(plain, nil) // where what is passed on ends
	return s.pass(text[:cut], found)
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

// pass writes a text without what was found in it.
func (s *Stream) pass(text string, found []span) error {
	_, err := io.WriteString(s.w, without(text, found))
	return err
}

// without writes the marks in place of what was found.
func without(s string, found []span) string {
	if len(found) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, f := range found {
		b.WriteString(s[at:f.start])
		b.WriteString(f.mark)
		at = f.end
	}
	b.WriteString(s[at:])
	return b.String()
}
