package redact

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
)

// How much text a Stream holds back, in bytes.
const (
	longest = 64 << 10 // of a line, before it writes the line's first part
	held    = 4 << 10  // of such a line after that; a secret that is longer and lies across the cut is not found
)

// Stream removes secrets from text that is written to it in pieces. It writes whole lines, so that it also finds a
// secret that is split over several pieces. A last line without a newline is written by Close. The memory that it uses
// is limited.
type Stream struct {
	r     *Redactor
	w     io.Writer
	forms io.Writer // the second output, if any
	rest  []byte    // text that is not written yet
	key   keyState
}

// Stream returns a Stream that writes the redacted text to w.
func (r *Redactor) Stream(w io.Writer) *Stream { return &Stream{r: r, w: w} }

// Streams returns a Stream with two outputs, which searches for secrets only once: `w` receives the text that r.String
// returns, and `forms` the text that r.Forms().String returns.
func (r *Redactor) Streams(w, forms io.Writer) *Stream { return &Stream{r: r, w: w, forms: forms} }

// Write always consumes all of p. An error is from an output.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part := p[:min(len(p), longest)] // in parts, so that a large write needs no large copy
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

// Close writes the rest of the text. It does not close the outputs.
func (s *Stream) Close() error { return s.lines(len(s.rest)) }

// lines writes the first `end` bytes of the text.
func (s *Stream) lines(end int) error {
	text := string(s.rest[:end])
	err := s.pass(text, s.r.find(text, &s.key))
	s.rest = append(s.rest[:0], s.rest[end:]...)
	return err
}

// piece writes the first part of a line that is too long to be held back. It cuts the line before a secret, not inside
// one.
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
	s.key.find(plain, nil) // update key for the text that is written
	err := s.pass(text[:cut], slices.DeleteFunc(found, func(f span) bool { return f.end > cut }))
	s.rest = append(s.rest[:0], text[cut:]...)
	return err
}

// Patch returns a Stream for the output of git diff: each line keeps its sign, and remains a line. The text of a
// private key is removed line by line.
func (r *Redactor) Patch(w io.Writer) io.WriteCloser { return &patch{Stream: r.Stream(w)} }

type patch struct {
	*Stream
	inside bool // the last piece ended inside a line
}

func (p *patch) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		text := line
		if !p.inside && line[0] != '\n' { // the Stream holds nothing back here
			if _, err := p.w.Write(line[:1]); err != nil {
				return 0, err
			}
			text = line[1:]
		}
		if _, err := p.Stream.Write(text); err != nil {
			return 0, err
		}
		p.inside = !bytes.HasSuffix(line, []byte("\n"))
	}
	return len(b), nil
}

// Reader returns a reader that reads from `from`, and removes secrets from what it reads.
func (r *Redactor) Reader(from io.Reader) io.Reader {
	read := &reader{from: from}
	read.safe = r.Stream(&read.ready)
	return read
}

type reader struct {
	from  io.Reader
	safe  *Stream
	ready bytes.Buffer
	err   error // error from `from`; all text before it is in ready
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

// pass writes a text without its secrets to all outputs. The text is the first part of s.rest.
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

// without returns a text with marks in place of its secrets. If several secrets overlap, only the mark of the first one
// is used.
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
