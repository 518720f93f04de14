package workflows

import (
	"slices"
	"strings"
	"unicode"
)

// Item is one entry of a spec's checklist.
type Item struct {
	Text string // one line, without the box
	Done bool   // the box is ticked
	Line int    // from 1
}

// ParseChecklist returns the task list items of a Markdown text, nested ones too, in the order of the text. Code blocks
// and HTML comments hold no items.
func ParseChecklist(text []byte) []Item { return parseChecklist(linesOf(text)).items }

// Section returns the lines of a Markdown text that an item of its checklist stands in: from the heading above it to the
// next one that is not below that. When they have more than most bytes it begins with the item itself. It returns "" when
// there is no such item.
func Section(text []byte, item string, most int) string {
	lines := linesOf(text)
	c := parseChecklist(lines)
	i := slices.IndexFunc(c.items, func(i Item) bool { return i.Text == item })
	if i < 0 {
		return ""
	}
	at := c.items[i].Line - 1
	from, to, level := 0, len(lines), 0
	for _, h := range c.headings {
		if h.line <= at {
			from, level = h.line, h.level
		} else if h.level <= level || level == 0 {
			to = h.line
			break
		}
	}
	section := strings.Join(lines[from:to], "\n")
	if len(section) > most {
		section = strings.Join(lines[at:to], "\n")
	}
	return strings.TrimSpace(section)
}

func linesOf(text []byte) []string {
	s := strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(s, "\r", "\n"), "\n")
}

func parseChecklist(lines []string) *checklist {
	var c checklist
	for n, line := range lines {
		c.line(n+1, line)
	}
	c.end()
	return &c
}

// heading is where a section begins: its line, from 0, and how deep it is, from 1.
type heading struct{ line, level int }

// checklist reads Markdown by lines, as far as it takes to tell what is a list item and what only looks like one.
type checklist struct {
	items    []Item
	headings []heading
	open     bool     // the newest item's text may go on in the next line
	text     []string // lines of the newest item

	paragraph bool   // the line before is text that the next line may continue
	lists     []int  // columns where the text of the surrounding list items begins, ascending
	fence     string // what ends the code block that we are in
	comment   bool   // in an HTML comment
}

func (c *checklist) line(number int, s string) {
	indent, rest := indentation(s)
	switch {
	case c.fence != "":
		if closesFence(rest, c.fence) {
			c.fence = ""
		}
		return
	case c.comment:
		c.comment = !strings.Contains(rest, "-->")
		return
	case rest == "":
		c.end()
		return
	case !c.paragraph && indent-c.column(indent) >= 4:
		return // an indented code block
	case opensFence(rest) != "":
		c.end()
		c.fence = opensFence(rest)
		return
	case strings.HasPrefix(rest, "<!--"):
		c.end()
		c.comment = !strings.Contains(rest, "-->")
		return
	case isHeading(rest), isRule(rest), rest[0] == '>':
		switch under := strings.IndexByte("=-", rest[0]); {
		case isHeading(rest):
			c.headings = append(c.headings, heading{number - 1, len(rest) - len(strings.TrimLeft(rest, "#"))})
		case under >= 0 && c.paragraph && !c.open && !strings.Contains(rest, " "): // the line before is one
			c.headings = append(c.headings, heading{number - 2, under + 1})
		}
		c.end()
		c.leave(indent)
		return
	}
	if width := marker(rest); width > 0 {
		c.end()
		c.leave(indent)
		c.lists = append(c.lists, indent+width)
		c.paragraph = true
		if done, text, ok := box(rest[width:]); ok {
			c.items = append(c.items, Item{Done: done, Line: number})
			c.open, c.text = true, []string{text}
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

// end ends the present paragraph, and with it the text of the open item. A box without text is no item.
func (c *checklist) end() {
	if c.open {
		last := &c.items[len(c.items)-1]
		if last.Text = oneLine(strings.Join(c.text, " ")); last.Text == "" {
			c.items = c.items[:len(c.items)-1]
		}
	}
	c.open, c.text, c.paragraph = false, nil, false
}

// column returns where the text of the innermost list item begins that holds a line of this indentation.
func (c *checklist) column(indent int) int {
	for i := len(c.lists) - 1; i >= 0; i-- {
		if c.lists[i] <= indent {
			return c.lists[i]
		}
	}
	return 0
}

// leave leaves the list items that do not hold a line of this indentation.
func (c *checklist) leave(indent int) {
	for len(c.lists) > 0 && c.lists[len(c.lists)-1] > indent {
		c.lists = c.lists[:len(c.lists)-1]
	}
}

// indentation returns the column of the first character, with tab stops every four columns, and the text from there.
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

// marker returns the width of a list marker with the white space after it, 0 if s does not begin with one.
func marker(s string) int {
	n := 0
	if strings.ContainsRune("-*+", rune(s[0])) {
		n = 1
	} else {
		for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0
		}
		n++
	}
	space := len(s[n:]) - len(strings.TrimLeft(s[n:], " \t"))
	if space == 0 {
		return 0 // an empty marker has no box either
	}
	return n + space
}

// box splits "[ ] text" and "[x] text".
func box(s string) (done bool, text string, ok bool) {
	if len(s) < 4 || s[0] != '[' || s[2] != ']' || s[3] != ' ' && s[3] != '\t' {
		return false, "", false
	}
	switch s[1] {
	case ' ':
		return false, s[4:], true
	case 'x', 'X':
		return true, s[4:], true
	}
	return false, "", false
}

// opensFence returns the run of ` or ~ that begins a fenced code block, or "".
func opensFence(s string) string {
	n := 0
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if n < 3 || s[0] != '`' && s[0] != '~' || s[0] == '`' && strings.Contains(s[n:], "`") {
		return ""
	}
	return s[:n]
}

func closesFence(s, fence string) bool {
	return len(s) >= len(fence) && strings.Trim(s, fence[:1]) == ""
}

func isHeading(s string) bool {
	level := len(s) - len(strings.TrimLeft(s, "#"))
	return level > 0 && level <= 6 && (len(s) == level || s[level] == ' ' || s[level] == '\t')
}

// isRule reports a line of nothing but three or more -, *, _ or =: a thematic break or the underline of a heading.
func isRule(s string) bool {
	bare := strings.ReplaceAll(strings.ReplaceAll(s, " ", ""), "\t", "")
	return len(bare) >= 3 && strings.ContainsRune("-*_=", rune(bare[0])) && strings.Trim(bare, bare[:1]) == ""
}

// oneLine joins the words of a text with single spaces and drops control characters.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }), " ")
}
