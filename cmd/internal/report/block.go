package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// Block is one part of a report, for both formats. Exactly one of its fields is set, except where a comment says more.
type Block struct {
	Level   int    // of a heading, whose text is Line
	ID      string // of that heading
	Line    Line   // a paragraph
	List    []Line
	Head    []string      // of a table, with Rows
	Class   string        // of that table, for style sheets
	Rows    []Row         // of a table or, without Head, of facts: a label and its text
	Code    string        // lines to be shown as they are
	Drawing template.HTML // is left out of Markdown
	Caption string        // of the drawing
}

// Row is a row of a table. Its class is for style sheets.
type Row struct {
	Class string
	Cells []Line
}

// Line is one line of text.
type Line []Text

// Text is a piece of a line. Words may be from anywhere; Kind and To are wfs's own.
type Text struct {
	Words string
	Kind  string // "", or classes of the style sheet, of which `code` also makes it code
	To    string // heading in this file that it links to
}

// line joins texts, and values that are printed as plain text.
func line(parts ...any) (l Line) {
	for _, p := range parts {
		switch p := p.(type) {
		case Text:
			l = append(l, p)
		case Line:
			l = append(l, p...)
		default:
			l = append(l, Text{Words: fmt.Sprint(p)})
		}
	}
	return l
}

func code(words string) Text     { return Text{Words: words, Kind: "code"} }
func badge(class string) Text    { return Text{Words: class, Kind: "badge " + class} }
func muted(words ...string) Text { return Text{Words: strings.Join(words, " "), Kind: "muted"} }
func strong(words string) Text   { return Text{Words: words, Kind: "strong"} }
func row(cells ...any) (r Row) {
	for _, c := range cells {
		r.Cells = append(r.Cells, line(c))
	}
	return r
}

// codes lists at most `most` names.
func codes[T ~string](names []T, most int) (l Line) {
	for i, name := range names[:min(len(names), most)] {
		if i > 0 {
			l = append(l, Text{Words: ", "})
		}
		l = append(l, code(string(name)))
	}
	if n := len(names) - most; n > 0 {
		l = append(l, Text{Words: fmt.Sprintf(" and %d more", n)})
	}
	return l
}

// most is the maximum number of characters of one text.
const most = 2000

// IsCode reports whether the text is a name: of a file, a test, a command.
func (t Text) IsCode() bool { return strings.HasPrefix(t.Kind, "code") }

// Plain returns the words on one line, without anything that is not displayed.
func (t Text) Plain() string {
	s := safetext.Line(t.Words, most)
	if s != "" && strings.HasPrefix(t.Words, " ") {
		s = " " + s
	}
	if strings.HasSuffix(t.Words, " ") {
		s += " "
	}
	return s
}

// document collects blocks.
type document struct {
	blocks  []Block
	drawn   bool // with drawings
	several bool // there are several sessions
}

func (d *document) heading(level int, id string, parts ...any) {
	d.blocks = append(d.blocks, Block{Level: level, ID: id, Line: line(parts...)})
}

func (d *document) say(parts ...any) { d.blocks = append(d.blocks, Block{Line: line(parts...)}) }

// table writes a table or, if `head` is nil, a list of facts. It writes nothing without rows.
func (d *document) table(class string, head []string, rows []Row) {
	if len(rows) > 0 {
		d.blocks = append(d.blocks, Block{Class: class, Head: head, Rows: rows})
	}
}

func (d *document) list(lines []Line) {
	if len(lines) > 0 {
		d.blocks = append(d.blocks, Block{List: lines})
	}
}
