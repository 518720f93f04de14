package cmd

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Colours are few and mean something: how the gates judged, where a session stands. They are of the eight that every
// terminal has, without yellow and blue, which are hard to read on light or on dark.
const (
	plain   = ""
	good    = "32" // green
	bad     = "31" // red
	notable = "35" // magenta: somebody has to do something
	strong  = "1"  // what to type next
)

// when is the flag --color: auto, always or never.
type when string

var whens = []string{"auto", "always", "never"}

func (w *when) String() string { return string(*w) }
func (w *when) Type() string   { return "when" }
func (w *when) Set(s string) error {
	for _, known := range whens {
		if s == known {
			*w = when(s)
			return nil
		}
	}
	return fmt.Errorf("it is one of %s", strings.Join(whens, ", "))
}

// colours reports whether what goes to an end is coloured; tty says whether a person sits there. The flag counts most,
// then NO_COLOR, CLICOLOR_FORCE and the terminal.
func (a *app) colours(tty bool) bool {
	switch {
	case a.json || a.color == "never":
		return false
	case a.color == "always":
		return true
	case a.env.Get("NO_COLOR") != "":
		return false
	}
	if force := a.env.Get("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return tty && a.env.Get("TERM") != "dumb" && a.env.Get("CLICOLOR") != "0"
}

// span is a piece of text in one colour.
type span struct{ text, colour string }

// styled is text in colours, as an argument of out and note, which leave the colours out where nobody wants them.
type styled []span

func (s styled) String() string {
	var b strings.Builder
	for _, p := range s {
		b.WriteString(p.text)
	}
	return b.String()
}

func (p span) render() string {
	text := safetext.Strip(p.text)
	if p.colour == plain || text == "" {
		return text
	}
	return "\x1b[" + p.colour + "m" + text + "\x1b[m"
}

// mark stands for a styled argument while the text around it is stripped. Nothing that was stripped holds it.
const mark = "\x00styled\x00"

// render formats text and strips it of everything that moves a terminal, but for the colours of its styled arguments.
func render(colours bool, format string, args []any) string {
	if !colours {
		return safetext.Strip(fmt.Sprintf(format, args...))
	}
	var spans []styled
	masked := make([]any, len(args))
	for i, arg := range args {
		masked[i] = arg
		if s, ok := arg.(styled); ok {
			masked[i] = mark
			spans = append(spans, s)
		}
	}
	parts := strings.Split(fmt.Sprintf(format, masked...), mark)
	if len(parts) != len(spans)+1 { // somebody's text holds the mark
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

// verdict is a verdict in its colour.
func verdict(v session.Verdict, c session.Class) styled {
	if c == session.ClassAsked {
		return styled{{"asks", verdictColour(v)}}
	}
	return styled{{string(v), verdictColour(v)}}
}

func verdictColour(v session.Verdict) string {
	switch v {
	case session.Pass:
		return good
	case session.Fail:
		return bad
	case session.Blocked:
		return notable
	}
	return plain
}

func statusColour(s session.Status) string {
	switch s {
	case session.StatusCompleted, session.StatusFinished:
		return good
	case session.StatusBlocked, unreadable:
		return bad
	case session.StatusWaiting, session.StatusInterrupted:
		return notable
	}
	return plain
}

// cell is one cell of a table.
type cell = span

// table prints rows in aligned columns. The last column is not padded; on a terminal it is cut where the line would
// wrap.
func (a *app) table(rows [][]cell) {
	for _, row := range aligned(rows) {
		a.line(row)
	}
}

// wholeTable is table without cutting, for what people copy.
func (a *app) wholeTable(rows [][]cell) {
	for _, row := range aligned(rows) {
		a.out("%s", fit(row, 0))
	}
}

func aligned(rows [][]cell) []styled {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], safetext.Width(c.text))
		}
	}
	var lines []styled
	for _, row := range rows {
		var line styled
		for i, c := range row {
			line = append(line, c)
			if i < len(row)-1 {
				line = append(line, span{text: strings.Repeat(" ", widths[i]-safetext.Width(c.text)+2)})
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// short prints one line of standard output that need not be read to its end: a terminal cuts it.
func (a *app) short(format string, args ...any) {
	a.line(styled{{fmt.Sprintf(format, args...), plain}})
}

// line prints one line of standard output, cut where the terminal ends.
func (a *app) line(s styled) {
	for i := range s {
		s[i].text = strings.ReplaceAll(safetext.Strip(s[i].text), "\n", " ")
	}
	a.out("%s", fit(s, a.env.Width))
}

// fit takes the white space at the end of a line away and shortens it to so many columns, 0 for any number.
func fit(s styled, width int) styled {
	for n := len(s) - 1; n >= 0; n-- {
		if s[n].text = strings.TrimRight(s[n].text, " "); s[n].text != "" {
			break
		}
	}
	if width == 0 || safetext.Width(s.String()) <= width {
		return s
	}
	for i := range s {
		w := safetext.Width(s[i].text)
		if w >= width { // something of it or behind it does not fit
			s[i].text = safetext.Cut(s[i].text+"…", width)
			return s[:i+1]
		}
		width -= w
	}
	return s
}
