package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/safetext"
)

// Block is one part of a report, for both formats. Exactly one of its fields is set, except where a comment says more.
type Block struct {
	Level   int           // of a heading, whose text is Line
	ID      string        // of that heading
	Line    Line          // a paragraph
	Head    []string      // of a table, with Rows
	Class   string        // of that table, for style sheets
	List    bool          // Rows are a list, with one cell each
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

func code(words string) Text   { return Text{Words: words, Kind: "code"} }
func badge(class string) Text  { return Text{Words: class, Kind: "badge " + class} }
func muted(words string) Text  { return Text{Words: words, Kind: "muted"} }
func strong(words string) Text { return Text{Words: words, Kind: "strong"} }
func bad(words string) Text    { return Text{Words: words, Kind: "bad"} }
func ok(words string) Text     { return Text{Words: words, Kind: "ok"} }

func row(cells ...any) (r Row) {
	for _, c := range cells {
		r.Cells = append(r.Cells, line(c))
	}
	return r
}

// joined joins the first `most` of a list with commas, and says how many it leaves out. It returns nil for none.
func joined[T, P any](list []T, most int, of func(T) P) (l Line) {
	if len(list) == 0 {
		return nil
	}
	for i, x := range list[:min(len(list), most)] {
		if i > 0 {
			l = line(l, ", ")
		}
		l = line(l, of(x))
	}
	return line(l, present.More(len(list)-most))
}

// orDash returns a dash for nothing.
func orDash(l Line) Line {
	if l == nil {
		return line("-")
	}
	return l
}

// codes lists at most `most` names.
func codes[T ~string](names []T, most int) Line {
	return joined(names, most, func(name T) Text { return code(string(name)) })
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

// table begins a table, whose rows follow. Without a row it is left out, as are lists and facts.
func (d *document) table(class string, head ...string) {
	d.blocks = append(d.blocks, Block{Class: class, Head: head})
}

// facts begins a list of facts, rows of a label and a text.
func (d *document) facts() { d.table("") }

// fact adds a fact, unless it has no text.
func (d *document) fact(label string, parts ...any) {
	if text := line(parts...); slices.ContainsFunc(text, func(t Text) bool { return t.Words != "" }) {
		d.row(label, text)
	}
}

func (d *document) list() { d.blocks = append(d.blocks, Block{List: true}) }

// row adds a row to what was begun last.
func (d *document) row(cells ...any) { d.add(row(cells...)) }

func (d *document) add(r Row) {
	last := &d.blocks[len(d.blocks)-1]
	last.Rows = append(last.Rows, r)
}

// empty reports whether a block was begun and got no rows.
func (b Block) empty() bool {
	return b.Level == 0 && b.Line == nil && b.Rows == nil && b.Code == "" && b.Drawing == ""
}
