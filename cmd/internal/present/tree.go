package present

import (
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// treeLine is a line of a drawn tree: its graph and, if there is one, the checkpoint to the right of it.
type treeLine struct {
	art        string
	checkpoint *session.Checkpoint
}

// drawTree draws checkpoints, newest first, as `git log --graph` draws commits. below maps each checkpoint to the one
// it builds on. A column is a line of work that continues down to a checkpoint not drawn yet.
func drawTree(list []session.Checkpoint, below map[int]int) []treeLine {
	var lines []treeLine
	var columns []int // the checkpoint that each column continues to
	for i := range list {
		c := &list[i]
		at := slices.Index(columns, c.Number)
		if at < 0 { // nothing builds on it
			at = len(columns)
			columns = append(columns, c.Number)
		}
		for k := len(columns) - 1; k > at; k-- { // lines of work that began here join from the right
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

// joinArt draws column k joining column at, to its left.
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

// DrawTree draws a session's checkpoints, newest first, with a description of each. below maps each checkpoint to the
// one it builds on.
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
