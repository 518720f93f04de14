package screen_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/screen"
	"github.com/wfs-dev/wfs/internal/vt"
	"pgregory.net/rapid"
)

// tty is a terminal that starts a new line at its first column, as the system's driver does.
type tty struct {
	*vt.Screen
	writes int
}

func (t *tty) Write(p []byte) (int, error) {
	t.writes++
	_, err := t.Screen.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), err
}

func TestBlock(t *testing.T) {
	t.Parallel()
	tt := &tty{Screen: vt.New(20, 6)}
	columns, lines := 20, []string{"one", "two"}
	b := screen.New(tt, func() (int, int) { return columns, 6 }, func(int) []screen.Line {
		var list []screen.Line
		for _, l := range lines {
			list = append(list, screen.Line{Text: l, Columns: len(l)})
		}
		return list
	})
	is := func(want string) {
		t.Helper()
		if got := tt.Text(); got != want {
			t.Fatalf("the screen shows\n%s\nwant\n%s", got, want)
		}
		if x, _ := tt.Cursor(); x != 0 {
			t.Fatalf("the cursor stands in column %d", x)
		}
	}
	_, _ = fmt.Fprintln(tt, "$ wfs run")
	b.Draw()
	is("$ wfs run\none\ntwo")
	writes := tt.writes
	b.Draw()
	if tt.writes != writes {
		t.Error("nothing has changed, and something was written")
	}
	lines = []string{"three"}
	b.Draw()
	is("$ wfs run\nthree")
	_, _ = fmt.Fprintln(b, "gone by, and longer than the screen is")
	is("$ wfs run\ngone by, and longer\nthan the screen is\nthree")
	_, _ = fmt.Fprint(b, "\a")
	is("$ wfs run\ngone by, and longer\nthan the screen is\nthree")
	lines = []string{"1", "2", "3", "4", "5", "6", "7"}
	b.Draw() // more than there is room for
	is("$ wfs run\ngone by, and longer\nthan the screen is\n1\n2\n3\n4\n5")
	b.Hide()
	is("$ wfs run\ngone by, and longer\nthan the screen is")
	_, _ = fmt.Fprintln(b, "while it is away")
	b.Draw()
	is("$ wfs run\ngone by, and longer\nthan the screen is\nwhile it is away")
	lines = []string{"back"}
	b.Show()
	is("$ wfs run\ngone by, and longer\nthan the screen is\nwhile it is away\nback")
	columns = 0 // another process has the terminal, and writes to it
	_, _ = fmt.Fprintln(tt, "$")
	b.Draw()
	_, _ = fmt.Fprintln(b, "said")
	is("$ wfs run\ngone by, and longer\nthan the screen is\nwhile it is away\nback\n$\nsaid")
	columns = 20
	b.Draw()
	is("$ wfs run\ngone by, and longer\nthan the screen is\nwhile it is away\nback\n$\nsaid\nback")
}

// In any order of draws and writes, all written lines appear once and in order, with the newest block below them.
func TestBlockKeepsLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		columns, rows := rapid.IntRange(5, 30).Draw(t, "columns"), rapid.IntRange(2, 9).Draw(t, "rows")
		tt := &tty{Screen: vt.New(columns, rows)}
		var lines []screen.Line
		b := screen.New(tt, func() (int, int) { return columns, rows }, func(int) []screen.Line { return lines })
		var want []string
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "write") {
				line := fmt.Sprint(i, strings.Repeat("x", rapid.IntRange(0, 3*columns).Draw(t, "long")))
				_, _ = fmt.Fprintln(b, line)
				for len(line) > columns {
					want, line = append(want, line[:columns]), line[columns:]
				}
				want = append(want, line)
			} else {
				lines = nil
				for j := range rapid.IntRange(0, 4).Draw(t, "lines") {
					text := strings.Repeat(fmt.Sprint(j), rapid.IntRange(1, columns).Draw(t, "wide"))
					lines = append(lines, screen.Line{Text: text, Columns: len(text)})
				}
				b.Draw()
			}
			all := want
			for _, l := range lines[:min(len(lines), rows-1)] {
				all = append(all[:len(all):len(all)], l.Text)
			}
			if got := tt.Text(); got != strings.Join(all, "\n") {
				t.Fatalf("the screen shows\n%s\nwant\n%s", got, strings.Join(all, "\n"))
			}
		}
	})
}

// A terminal that became narrower has wrapped the block's lines again.
func TestNarrower(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	columns := 20
	b := screen.New(&out, func() (int, int) { return columns, 24 }, func(int) []screen.Line {
		text := strings.Repeat("x", columns)
		return []screen.Line{{Text: text, Columns: columns}, {Text: "short", Columns: 5}}
	})
	b.Draw()
	columns = 8
	out.Reset()
	b.Draw()
	if !strings.Contains(out.String(), "\x1b[4A") { // three rows and one
		t.Errorf("%q", out.String())
	}
}
