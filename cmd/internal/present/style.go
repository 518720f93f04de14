package present

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// wfs uses few colours, and each has a meaning: a gate's verdict, a session's state. All are among the eight colours
// that every terminal has. Yellow and blue are not used, because they are hard to read on a light or a dark background.
const (
	plain   = ""
	good    = "32" // green
	bad     = "31" // red
	notable = "35" // magenta: needs attention
	strong  = "1"  // commands to type next
)

// span is a piece of text in one colour.
type span struct{ text, colour string }

// Styled is text with colours, as an argument of Out and Note. They leave the colours out if colours are turned off.
type Styled []span

func Good(text string) Styled    { return Styled{{text, good}} }
func Bad(text string) Styled     { return Styled{{text, bad}} }
func Notable(text string) Styled { return Styled{{text, notable}} }
func Strong(text string) Styled  { return Styled{{text, strong}} }

// Join concatenates its arguments, which may be Styled or anything that fmt prints, into one Styled.
func Join(parts ...any) (line Styled) {
	for _, p := range parts {
		if s, ok := p.(Styled); ok {
			line = append(line, s...)
		} else {
			line = append(line, span{fmt.Sprint(p), plain})
		}
	}
	return line
}

func (s Styled) String() string {
	var b strings.Builder
	for _, p := range s {
		b.WriteString(p.text)
	}
	return b.String()
}

// Columns returns the width of the text on a terminal, in columns.
func (s Styled) Columns() int { return safetext.Width(s.String()) }

func (p span) render() string {
	text := safetext.Strip(p.text)
	if p.colour == plain || text == "" {
		return text
	}
	return "\x1b[" + p.colour + "m" + text + "\x1b[m"
}

// mark is the placeholder for a styled argument while control sequences are stripped from the text around it. Stripped
// text cannot contain it, so that mark is unambiguous.
const mark = "\x00styled\x00"

// Render formats text and strips all control sequences, except the colours of Styled arguments.
func Render(colours bool, format string, args ...any) string {
	var spans []Styled
	masked := make([]any, len(args))
	for i, arg := range args {
		masked[i] = arg
		if s, ok := arg.(Styled); ok {
			masked[i] = mark
			spans = append(spans, s)
		}
	}
	parts := strings.Split(fmt.Sprintf(format, masked...), mark)
	if !colours || len(parts) != len(spans)+1 { // an argument contains the mark
		return safetext.Strip(fmt.Sprintf(format, args...))
	}
	var b strings.Builder
	for i, part := range parts {
		b.WriteString(safetext.Strip(part))
		if i < len(spans) {
			for _, p := range spans[i] {
				b.WriteString(p.render())
			}
		}
	}
	return b.String()
}

// Unreadable is the status that wfs shows for a session that it cannot read.
const Unreadable session.Status = "unreadable"

var verdictColours = map[session.Verdict]string{session.Pass: good, session.Fail: bad, session.Blocked: notable}

var statusColours = map[session.Status]string{session.StatusCompleted: good, session.StatusFinished: good,
	session.StatusBlocked: bad,
	Unreadable:            bad, session.StatusWaiting: notable, session.StatusInterrupted: notable}

// Verdict returns the name of a verdict in its colour.
func Verdict(v session.Verdict, c session.Class) Styled {
	if c == session.ClassAsked {
		return Judged(v, "asks")
	}
	return Judged(v, string(v))
}

// aligned returns the rows as lines with aligned columns. It adds no spaces after the last column.
func aligned(rows [][]any) []Styled {
	widths := columns(rows)
	var lines []Styled
	for _, row := range rows {
		var line Styled
		for i, cell := range row {
			text := Join(cell)
			line = append(line, text...)
			if i < len(row)-1 {
				line = append(line, span{text: strings.Repeat(" ", widths[i]-text.Columns()+2)})
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// columns returns the widths of the columns of a table.
func columns(rows [][]any) (widths []int) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Join(cell).Columns())
		}
	}
	return widths
}

// fit removes trailing spaces and cuts a line to `width` columns. A width of 0 means no limit.
func fit(s Styled, width int) Styled {
	for n := len(s) - 1; n >= 0; n-- {
		if s[n].text = strings.TrimRight(s[n].text, " "); s[n].text != "" {
			break
		}
	}
	if width == 0 || s.Columns() <= width {
		return s
	}
	for i := range s {
		w := safetext.Width(s[i].text)
		if w >= width { // this span, or at least the next one, does not fit
			s[i].text = safetext.Cut(s[i].text+"…", width)
			return s[:i+1]
		}
		width -= w
	}
	return s
}

// Pad adds spaces at the end of a text up to a width.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-safetext.Width(text)))
}

// Judged returns text in the colour of a verdict.
func Judged(v session.Verdict, text string) Styled { return Styled{{text, verdictColours[v]}} }

func Status(s session.Status) Styled { return Styled{{string(s), statusColours[s]}} }
