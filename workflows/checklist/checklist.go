// Package checklist reads the items of a specification in Markdown or Gherkin, and task lists with their order.
package checklist

import (
	"slices"
	"strings"
	"unicode"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// Item is one entry of a spec's checklist.
type Item struct {
	Text string // text of the item on one line, without the box
	Done bool   // the box is ticked
	Line int    // line of the box in the file, from 1
	kind kind
}

// kind says what an item is. If a spec has items of several kinds, those of the lowest kind count.
type kind int

const (
	box      kind = iota // `- [ ] …`
	scenario             // `Scenario: …`, as in Gherkin and OpenSpec
	sentence             // a list entry "Given …, when …, then …", as in the stories of spec-kit
)

// Parse returns the task list items (`- [ ]`) of a Markdown text in their order, including nested ones. Items in code
// blocks and HTML comments are ignored.
func Parse(text []byte) []Item { return read(linesOf(text)).of(box) }

// Spec returns the items of a specification, which is Markdown or Gherkin: its task list items as Parse does. If there
// is none, it returns its scenarios, which are never done.
func Spec(text []byte) []Item {
	c := read(linesOf(text))
	for k := box; k < sentence; k++ {
		if items := c.of(k); len(items) > 0 {
			return items
		}
	}
	return c.items
}

func (c *checklist) of(k kind) []Item {
	return slices.DeleteFunc(slices.Clone(c.items), func(i Item) bool { return i.kind != k })
}

// Section returns the section of a Markdown text that contains a checklist item: from the heading above the item to the
// next heading of the same or a higher level. If the section is longer than `most` bytes, it is returned from the item
// on. Section returns "" if there is no such item.
func Section(text []byte, item string, most int) string {
	lines := linesOf(text)
	c := read(lines)
	i := slices.IndexFunc(c.items, func(i Item) bool { return i.Text == item })
	if i < 0 {
		return ""
	}
	at := c.items[i].Line - 1
	from, to, level := 0, len(lines), 0
	for _, h := range c.sections {
		if h.line <= at {
			from, level = h.line, h.level
		} else if h.level <= level || level == 0 {
			to = h.line
			break
		}
	}
	around := strings.Join(lines[from:to], "\n")
	if len(around) > most {
		around = strings.Join(lines[at:to], "\n")
	}
	return strings.TrimSpace(around)
}

func linesOf(text []byte) []string {
	s := strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(s, "\r", "\n"), "\n")
}

func read(lines []string) *checklist {
	var c checklist
	for n, line := range lines {
		c.line(n+1, line)
	}
	c.end()
	return &c
}

// OneLine joins the words of a text with single spaces and drops control characters.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }),
		" ")
}

// checklist reads Markdown line by line. It parses just enough to distinguish list items from lines that only look like
// items.
type checklist struct {
	items    []Item
	sections []section
	open     bool     // the text of the newest item may continue in the next line
	text     []string // lines of the newest item

	paragraph bool   // the previous line is text that the next line may continue
	lists     []int  // columns in which the text of the enclosing list items begins, ascending
	fence     string // the marker that ends the current code block
	comment   bool   // the line is inside an HTML comment

	gherkin bool   // the text is Gherkin: indented lines are no code, and `#` begins a comment
	example bool   // the code block is Gherkin
	rule    string // the requirement (or rule) of the next scenarios
}

// column returns the column in which the text of the enclosing list item begins, for a line of this indentation. If no
// list item contains the line, it returns 0.
func (c *checklist) column(indent int) int {
	for i := len(c.lists) - 1; i >= 0; i-- {
		if c.lists[i] <= indent {
			return c.lists[i]
		}
	}
	return 0
}

// end ends the current paragraph, and with it the text of the open item. A box without text is not an item.
func (c *checklist) end() {
	if c.open {
		last := &c.items[len(c.items)-1]
		last.Text = OneLine(strings.Join(c.text, " "))
		if last.Text == "" || last.kind == sentence && !then.MatchString(last.Text) {
			c.items = c.items[:len(c.items)-1]
		}
	}
	c.open, c.text, c.paragraph = false, nil, false
}

// leave closes all list items that cannot contain a line of this indentation.
func (c *checklist) leave(indent int) {
	for len(c.lists) > 0 && c.lists[len(c.lists)-1] > indent {
		c.lists = c.lists[:len(c.lists)-1]
	}
}

func (c *checklist) line(number int, s string) {
	indent, rest := indentation(s)
	switch {
	case c.fence != "":
		if len(rest) >= len(c.fence) && strings.Trim(rest, c.fence[:1]) == "" {
			c.fence = ""
		} else if c.example {
			c.keyword(number, rest)
		}
		return
	case c.comment:
		c.comment = !strings.Contains(rest, "-->")
		return
	case rest == "":
		c.end()
		return
	}
	c.keyword(number, rest)
	switch {
	case !c.gherkin && !c.paragraph && indent-c.column(indent) >= 4:
		return // an indented code block
	case opensFence(rest) != "":
		c.end()
		c.fence = opensFence(rest)
		c.example = strings.EqualFold(strings.Trim(rest, "`~ "), "gherkin")
		return
	case strings.HasPrefix(rest, "<!--"):
		c.end()
		c.comment = !strings.Contains(rest, "-->")
		return
	case heading.MatchString(rest), rule.MatchString(strings.NewReplacer(" ", "", "\t", "").Replace(rest)), rest[0] == '>':
		under := strings.IndexByte("=-", rest[0])
		if h := heading.FindStringSubmatch(rest); h != nil {
			c.sections = append(c.sections, section{number - 1, len(h[1])})
			// this line underlines the previous line, which is therefore a heading
		} else if under >= 0 && c.paragraph && !c.open && !strings.Contains(rest, " ") {
			c.sections = append(c.sections, section{number - 2, under + 1})
		}
		c.end()
		c.leave(indent)
		return
	}
	if width := len(listMarker.FindString(rest)); width > 0 {
		c.end()
		c.leave(indent)
		c.lists = append(c.lists, indent+width)
		c.paragraph = true
		if box := taskBox.FindStringSubmatch(rest[width:]); box != nil {
			c.items = append(c.items, Item{Done: box[1] != " ", Line: number})
			c.open, c.text = true, []string{box[2]}
		} else if given.MatchString(rest[width:]) {
			c.items = append(c.items, Item{Line: number, kind: sentence})
			c.open, c.text = true, []string{rest[width:]}
		}
		return
	}
	if !c.paragraph {
		c.leave(indent)
		c.paragraph = true
	} else if c.open {
		c.text = append(c.text, rest)
	}
}

// keyword reads a line that begins with a keyword of Gherkin, such as "Scenario:", also as a heading or in bold.
func (c *checklist) keyword(number int, rest string) {
	k := keywords.FindStringSubmatch(rest)
	if k == nil {
		if heading.MatchString(rest) && !c.gherkin {
			c.rule = ""
		}
		return
	}
	mark, word, name := k[1], k[2], OneLine(strings.Trim(k[3], "*_ "))
	switch {
	case c.gherkin && mark != "": // a comment, or an entry of a description
	case word == "Feature":
		c.gherkin = c.gherkin || mark == "" && c.fence == ""
		c.rule = ""
	case word == "Rule", word == "Requirement":
		if c.gherkin || c.example || mark != "" {
			c.rule = name
		}
	case name != "" && (word != "Example" || c.gherkin || c.example):
		c.end()
		if c.rule != "" {
			name = c.rule + ": " + name
		}
		c.items = append(c.items, Item{Text: name, Line: number, kind: scenario})
	}
}

// section has the position of a heading: its line, from 0, and its level, from 1.
type section struct{ line, level int }

// indentation returns the column of the first character that is not blank, with tab stops every four columns, and the
// text from that character on.
func indentation(s string) (int, string) {
	column := 0
	for i := range len(s) {
		switch s[i] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			return column, strings.TrimRight(s[i:], " \t")
		}
	}
	return column, ""
}

var (
	// a list marker needs a blank after it: without one there can be no box
	listMarker = lazyregexp.New(`^([-*+]|[0-9]{1,9}[.)])[ \t]+`)
	taskBox    = lazyregexp.New(`^\[([ xX])\][ \t](.*)`)
	// the third kind is a text in Gherkin
	fenceStart = lazyregexp.New("^(```+[^`]*$|~~~+|\"\"\"[^\"]*$)")
	heading    = lazyregexp.New(`^(#{1,6})([ \t]|$)`)
	keywords   = lazyregexp.New(`^(#{1,6}[ \t]+|[-*+][ \t]+)?[*_]{0,2}` +
		`(Feature|Rule|Requirement|Scenario|Example)(?: Outline| Template)?(?: [0-9.]+)?[*_]{0,2}:(.*)`)
	given = lazyregexp.New(`(?i)^[*_]{0,2}given\b`)
	then  = lazyregexp.New(`(?i)\bthen\b`)
	// rule matches a horizontal rule or the underline of a heading, after its spaces were removed.
	rule = lazyregexp.New(`^(-{3,}|\*{3,}|_{3,}|={3,})$`)
)

// opensFence returns the backticks or tildes that begin a fenced code block, "" if the line begins none.
func opensFence(s string) string {
	if !fenceStart.MatchString(s) {
		return ""
	}
	return s[:len(s)-len(strings.TrimLeft(s, s[:1]))]
}
