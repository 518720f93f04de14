package board

import (
	"fmt"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/safetext"
)

// The last line of the screen names the keys; if they do not fit, only ? and q.
const (
	fewKeys   = "Enter watch  ? help  q quit"
	pageKeys  = "j k Space scroll   q back"
	writeKeys = "Enter sends   Esc cancels"
	askKeys   = "y yes   any other key no"
)

// listKeys names the keys that make sense for the selected session.
func (b *Board) listKeys() string {
	var row Row
	if at := b.at(); at >= 0 {
		row = b.rows[at]
	}
	keys := "Enter watch  s status  d diff  n note"
	if row.Runs {
		keys += "  S stop"
	} else {
		keys += "  r run"
	}
	if row.Decide {
		keys += "  a approve  x reject"
	}
	return keys + "  ? help  q"
}

// Lines draws the board for a terminal of a given size.
func (b *Board) Lines(columns, rows int, now time.Time) []present.Styled {
	if columns < 1 || rows < 1 {
		return nil
	}
	if b.mode == paging {
		return b.pageLines(columns, rows)
	}
	keys := b.listKeys()
	if safetext.Width(keys) > columns {
		keys = fewKeys
	}
	foot := []present.Styled{line(keys, columns)}
	switch b.mode {
	case writing:
		foot = []present.Styled{present.Strong(end(b.ask+": "+string(b.typed)+"_", columns)), line(writeKeys, columns)}
	case asking:
		foot = []present.Styled{present.Strong(safetext.Cut(b.ask+" [y/N]", columns)), line(askKeys, columns)}
	}
	about := b.about(columns, min(5, rows/4))
	room := rows - 1 - len(about) - len(foot)
	list, at := b.entries()
	b.page = max(1, room)
	// keep the selected line visible, with the heading above it if there is room
	b.top = min(b.top, max(0, at-1))
	b.top = max(0, min(max(b.top, at-room+1), len(list)-room))
	shown := list[min(b.top, len(list)):min(b.top+max(0, room), len(list))]
	lines := append([]present.Styled{line(b.head(), columns)}, b.listLines(shown, columns, now)...)
	for range max(0, room-len(shown)) {
		lines = append(lines, nil)
	}
	lines = append(append(lines, about...), foot...)
	return lines[max(0, len(lines)-rows):]
}

func line(text string, columns int) present.Styled { return present.Join(safetext.Cut(text, columns)) }

// end returns the end of a text that is too wide.
func end(text string, columns int) string {
	text = safetext.Line(text, 0)
	for safetext.Width(text) > columns {
		text = string([]rune(text)[1:])
	}
	return text
}

// head returns the first line: how many sessions there are, by group.
func (b *Board) head() string {
	var n [len(Groups)]int
	for _, r := range b.rows {
		n[r.Group]++
	}
	p := present.Parts{}
	for g, count := range n {
		p.Add(count > 0, "%d %s", count, Group(g))
	}
	return safetext.Line(b.Title, 0) + "  " + present.N(len(b.rows), "session") + ": " + strings.Join(p, ", ")
}

// entry is a line of the list: a row, or the heading of the group that begins with that row.
type entry struct {
	row     int
	heading bool
}

// entries returns the lines of the list, and the index of the selected one.
func (b *Board) entries() (list []entry, at int) {
	for i, r := range b.rows {
		if i == 0 || b.rows[i-1].Group != r.Group {
			list = append(list, entry{i, true})
		}
		if r.ID == b.selected {
			at = len(list)
		}
		list = append(list, entry{i, false})
	}
	return list, at
}

// listLines draws some lines of the list.
func (b *Board) listLines(list []entry, columns int, now time.Time) (lines []present.Styled) {
	var w widths
	for _, r := range b.rows {
		w.id = max(w.id, safetext.Width(string(r.ID)))
		w.at = max(w.at, safetext.Width(r.At))
		w.cost = max(w.cost, safetext.Width(r.Cost))
		w.attempt = max(w.attempt, len(r.attempt()))
	}
	w.id, w.at = min(w.id, max(10, min(mostID, columns/3))), min(w.at, mostAt)
	for _, e := range list {
		if r := b.rows[e.row]; e.heading {
			lines = append(lines, present.Strong(safetext.Cut(strings.ToUpper(r.Group.String()), columns)))
		} else {
			lines = append(lines, r.line(w, columns, r.ID == b.selected, now))
		}
	}
	return lines
}

// widths are the widths of the columns that depend on the sessions. The rest of the line is for what happens now.
type widths struct{ id, at, attempt, cost int }

const (
	mostID      = 24
	mostAt      = 14
	statusWidth = 11
	ageWidth    = 4
	leastNow    = 16
)

func (r Row) attempt() string {
	if r.Attempt == 0 {
		return ""
	}
	return fmt.Sprintf("#%d", r.Attempt)
}

// line draws one row. If the terminal is narrow, it leaves out columns from the least important on.
func (r Row) line(w widths, columns int, selected bool, now time.Time) present.Styled {
	mark := " "
	if r.Here {
		mark = "*"
	}
	if selected {
		mark += ">"
	} else {
		mark += " "
	}
	cell := func(text string, width int) string {
		return present.Pad(safetext.Cut(safetext.Line(text, 0), width), width)
	}
	left := mark + cell(string(r.ID), w.id)
	middle, right := "", ""
	room := columns - safetext.Width(left) - 1
	take := func(width, leave int) bool { // whether a column fits, and so much is left for what happens now
		if width == 0 || room < width+1+leave {
			return false
		}
		room -= width + 1
		return true
	}
	if take(w.at, 0) {
		middle += " " + cell(r.At, w.at)
	}
	if take(ageWidth, 0) {
		right = " " + fmt.Sprintf("%*s", ageWidth, age(now.Sub(r.Updated)))
	}
	status := ""
	if take(statusWidth, leastNow) {
		status = " " + cell(string(r.Status), statusWidth)
	}
	if take(w.attempt, leastNow) {
		middle += " " + cell(r.attempt(), w.attempt)
	}
	if take(w.cost, leastNow) {
		right = " " + fmt.Sprintf("%*s", w.cost, r.Cost) + right
	}
	text := ""
	if room > 0 {
		text = " " + cell(r.Now, room)
	}
	if selected {
		return present.Strong(safetext.Cut(left+status+middle+text+right, columns))
	}
	coloured := present.Status(r.Status)
	if status == "" {
		return present.Join(safetext.Cut(left+middle+text+right, columns))
	}
	pad := status[min(len(status), 1+len(coloured.String())):]
	return present.Join(left, " ", coloured, pad, middle, text, right)
}

// age shortens a duration to at most four characters.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", min(999, int(d.Hours())/24))
}

// about returns the lines about the selected session below the list.
func (b *Board) about(columns, most int) (lines []present.Styled) {
	at := b.at()
	if at < 0 || most < 2 {
		return nil
	}
	r := b.rows[at]
	lines = append(lines, present.Join(strings.Repeat("─", columns)))
	for _, text := range r.About {
		for _, piece := range broken(safetext.Line(text, 0), columns) {
			if len(lines) < most {
				lines = append(lines, present.Join(piece))
			}
		}
	}
	for len(lines) < most { // the list must not jump when another row is selected
		lines = append(lines, nil)
	}
	return lines
}

// pageLines draws the text of the mode paging.
func (b *Board) pageLines(columns, rows int) []present.Styled {
	state := ""
	if b.running {
		state = "  … running"
	}
	lines := []present.Styled{present.Strong(safetext.Cut(safetext.Line(b.title, 0)+state, columns))}
	var text []string
	for _, l := range b.text {
		text = append(text, broken(safetext.Strip(l), columns)...)
	}
	b.page = max(1, rows-2)
	b.from = max(0, min(b.from, len(text)-b.page))
	shown := text[b.from:min(b.from+b.page, len(text))]
	for _, l := range shown {
		switch {
		case strings.HasPrefix(l, "+"):
			lines = append(lines, present.Good(l))
		case strings.HasPrefix(l, "-"):
			lines = append(lines, present.Bad(l))
		default:
			lines = append(lines, present.Join(l))
		}
	}
	for range b.page - len(shown) {
		lines = append(lines, nil)
	}
	keys := pageKeys
	if n := len(text); n > b.page {
		keys += fmt.Sprintf("   %d-%d of %d", b.from+1, b.from+len(shown), n)
	}
	lines = append(lines, line(keys, columns))
	return lines[max(0, len(lines)-rows):]
}

// broken breaks a line into pieces that fit, and loses nothing.
func broken(text string, columns int) (pieces []string) {
	for safetext.Width(text) > columns {
		n, w := 0, 0
		for i, r := range text {
			if w += safetext.Width(string(r)); w > columns && i > 0 {
				break
			}
			n = i + len(string(r))
		}
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return append(pieces, text)
}
