package report

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// xmlFeed hands a stream to an XML decoder so that it can stay small and does not stumble: characters that XML forbids
// become spaces, and of a long text, comment, CDATA section or attribute only the beginning is passed on.
type xmlFeed struct {
	in    *bufio.Reader
	store [16]byte
	buf   []byte // part of store: encoded, not yet read
	where func(*xmlFeed, rune)
	kept  int    // runes of the present run of text, or attribute
	quote rune   // in a tag: the open quote
	seen  string // first characters of a tag
	held  []rune // last characters of a section, which may be its end
	dead  bool   // a tag without end: what follows cannot be XML
}

const (
	maxXMLText = 8 << 10 // runes; twice an excerpt, because messages are in an attribute and in the text
	maxXMLTag  = 256 << 10
)

func newXMLFeed(r io.Reader) *xmlFeed { return &xmlFeed{in: bufio.NewReaderSize(r, 64<<10)} }

// next skips to where a document seems to begin, past whatever else was printed. roots are what may stand behind its
// first "<".
func (f *xmlFeed) next(roots ...string) bool {
	f.buf, f.where, f.dead = nil, (*xmlFeed).text, false
	for {
		if _, err := f.in.ReadSlice('<'); err == bufio.ErrBufferFull {
			continue
		} else if err != nil {
			return false
		}
		ahead, _ := f.in.Peek(len("testsuite"))
		if slices.ContainsFunc(roots, func(root string) bool { return strings.HasPrefix(string(ahead), root) }) {
			f.buf = f.store[:0]
			f.text('<')
			return true
		}
	}
}

func (f *xmlFeed) Read(p []byte) (int, error) {
	for n := range p {
		c, err := f.ReadByte()
		if err != nil {
			return n, err
		}
		p[n] = c
	}
	return len(p), nil
}

func (f *xmlFeed) ReadByte() (byte, error) {
	for len(f.buf) == 0 {
		if f.dead {
			return 0, io.ErrUnexpectedEOF
		}
		r, _, err := f.in.ReadRune()
		if err != nil {
			return 0, err
		}
		if r == utf8.RuneError || r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			r = ' '
		}
		f.buf = f.store[:0]
		f.where(f, r)
	}
	c := f.buf[0]
	f.buf = f.buf[1:]
	return c, nil
}

func (f *xmlFeed) emit(r rune) { f.buf = utf8.AppendRune(f.buf, r) }

func (f *xmlFeed) text(r rune) {
	if r == '<' {
		f.where, f.seen, f.kept, f.quote = (*xmlFeed).tag, "<", 0, 0
		f.emit(r)
		return
	}
	if f.kept++; f.kept > maxXMLText {
		if r == ';' || r == ' ' {
			f.emit(' ') // whatever entity was cut is closed
		}
		return
	}
	f.emit(r)
}

func (f *xmlFeed) tag(r rune) {
	if len(f.seen) < len("<![CDATA[") {
		f.seen += string(r)
		switch f.seen {
		case "<![CDATA[":
			f.emit(r)
			f.where, f.kept, f.held = (*xmlFeed).cdata, 0, f.held[:0]
			return
		case "<!--":
			f.emit(r)
			f.where, f.kept, f.held = (*xmlFeed).comment, 0, f.held[:0]
			return
		}
	}
	f.kept++
	switch {
	case f.quote == 0 && r == '>':
		f.where, f.kept = (*xmlFeed).text, 0
	case f.quote == 0 && (r == '"' || r == '\''):
		f.quote, f.kept = r, 0
	case f.quote == r:
		f.quote, f.kept = 0, 0
	case f.quote != 0 && f.kept > maxXMLText:
		return
	case f.quote == 0 && f.kept > maxXMLTag:
		f.dead = true
	}
	f.emit(r)
}

func (f *xmlFeed) cdata(r rune) { f.section(r, ']', maxXMLText) }

// comment passes nothing on: nobody reads it, and decoders are strict about dashes in it.
func (f *xmlFeed) comment(r rune) { f.section(r, '-', 0) }

// section passes on the beginning of a section, holding back what may be its end: the mark twice, and ">".
func (f *xmlFeed) section(r, mark rune, most int) {
	if n := len(f.held); r == '>' && n == 2 && f.held[0] == mark && f.held[1] == mark {
		f.emit(mark)
		f.emit(mark)
		f.emit('>')
		f.where, f.kept = (*xmlFeed).text, 0
		return
	}
	if len(f.held) == 2 {
		if f.kept++; f.kept <= most {
			f.emit(f.held[0])
		}
		f.held[0] = f.held[1]
		f.held = f.held[:1]
	}
	f.held = append(f.held, r)
}
