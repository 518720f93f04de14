package present

import (
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// treeLine is one line of a drawn tree: the graph at the left and, on some lines, a checkpoint to the right of it.
type treeLine struct {
	art        string
	checkpoint *session.Checkpoint
}

// drawTree draws a graph of checkpoints, newest first, like `git log --graph`. `below` maps each checkpoint's number to
// the checkpoint that it builds on. A column of the graph is a line of work; it continues downwards until the
// checkpoint that it builds on is drawn.
func drawTree(list []session.Checkpoint, below map[int]int) []treeLine {
	var lines []treeLine
	var columns []int // for each column: the checkpoint that it leads down to
	for i := range list {
		c := &list[i]
		at := slices.Index(columns, c.Number)
		if at < 0 { // no later checkpoint builds on this one
			at = len(columns)
			columns = append(columns, c.Number)
		}
		for k := len(columns) - 1; k > at; k-- { // other lines of work that build on it join here
			if columns[k] == c.Number {
				lines = append(lines, treeLine{art: joinArt(columns, at, k)})
				columns = slices.Delete(columns, k, k+1)
			}
		}
		art := make([]string, len(columns))
		for k := range columns {
			art[k] = "|"
		}
		art[at] = "o"
		lines = append(lines, treeLine{strings.Join(art, " "), c})
		if to, ok := below[c.Number]; ok {
			columns[at] = to
		} else {
			columns = slices.Delete(columns, at, at+1)
		}
	}
	width := 0
	for _, l := range lines {
		width = max(width, len(l.art))
	}
	for i := range lines {
		if lines[i].checkpoint != nil {
			lines[i].art += strings.Repeat(" ", width-len(lines[i].art))
		}
	}
	return lines
}

// joinArt draws how column k joins column `at` to its left.
func joinArt(columns []int, at, k int) string {
	art := []byte(strings.Repeat("| ", k) + "  ")
	art[2*k-1] = '/'
	for n := 2*at + 1; n < 2*k-1; n += 2 {
		art[n] = '_'
	}
	art = art[:2*k]
	for n := k + 1; n < len(columns); n++ {
		art = append(art, " |"...)
	}
	return strings.TrimRight(string(art), " ")
}

// DrawTree draws the graph of a session's checkpoints, newest first, with a description of each. `below` maps each
// checkpoint's number to the checkpoint that it builds on.
func DrawTree(s *session.Session, list []session.Checkpoint, below map[int]int) (lines []Styled) {
	wide := PhaseColumns(s.Checkpoints)
	for _, line := range drawTree(list, below) {
		text := Join(line.art)
		if line.checkpoint != nil {
			text = Join(line.art, "  ", CheckpointLine(s, *line.checkpoint, wide))
		}
		lines = append(lines, text)
	}
	return lines
}
