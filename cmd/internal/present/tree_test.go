package present

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/session"
)

// newestFirst returns checkpoints 0 to n-1, newest first.
func newestFirst(n int) []session.Checkpoint {
	var list []session.Checkpoint
	for i := range n {
		list = append(list, session.Checkpoint{Number: n - 1 - i})
	}
	return list
}

func TestDrawTree(t *testing.T) {
	for _, c := range []struct {
		below map[int]int
		want  string
	}{
		{map[int]int{1: 0, 2: 1}, "o2,o1,o0"},
		{map[int]int{1: 0, 2: 1, 3: 0, 4: 3}, "o4,o3,| o2,| o1,|/,o0"},
		{map[int]int{1: 0, 2: 0, 3: 0, 4: 1}, "o4,| o3,| | o2,o | |1,|_|/,|/,o0"},
		{map[int]int{1: 0, 2: 0, 3: 2, 4: 1, 5: 1}, "o5,| o4,| | o3,| | o2,|/ |,o |1,|/,o0"},
	} {
		var got []string
		for _, l := range drawTree(newestFirst(len(c.below)+1), c.below) {
			text := strings.TrimRight(l.art, " ")
			if l.checkpoint != nil {
				text += fmt.Sprint(l.checkpoint.Number)
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ","); text != c.want {
			t.Errorf("%v is drawn as\n%s", c.below, strings.Join(got, "\n"))
		}
	}
}

// TestDrawAnyTree draws every checkpoint once, in order, and ends with one line of work: that of the first checkpoint.
func TestDrawAnyTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		below := map[int]int{}
		for i := 1; i < n; i++ {
			below[i] = rapid.IntRange(0, i-1).Draw(t, "below")
		}
		next := n - 1
		lines := drawTree(newestFirst(n), below)
		for _, l := range lines {
			if l.checkpoint == nil {
				continue
			}
			if l.checkpoint.Number != next || strings.Count(l.art, "o") != 1 {
				t.Fatalf("%q draws checkpoint %d where %d is due", l.art, l.checkpoint.Number, next)
			}
			next--
		}
		if last := lines[len(lines)-1]; next != -1 || strings.TrimRight(last.art, " ") != "o" {
			t.Fatalf("it ends with %q, and %d are left", last.art, next+1)
		}
	})
}
