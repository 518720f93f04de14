// Package present shows values to people: lines, tables, stories of sessions, and the live view of a run. It
// gets values, and knows neither commands nor where they come from.
package present

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// Screen is where a command prints: its answer on standard output, progress on standard error.
type Screen struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Whether a person sits at each end.
	StdinTTY, StdoutTTY, StderrTTY bool
	// Width is how many columns the terminal at standard output has, 0 when there is none or it does not say.
	Width int
	JSON  bool
	// Color is the flag --color: auto, always or never. Getenv reads the environment.
	Color  When
	Getenv func(name string) string
	Clock  func() time.Time
	// Facts looks up what values do not have.
	Facts Facts
	// AtExit calls a function before a third Ctrl-C ends the process at once.
	AtExit func(func())
}

// When is the flag --color.
type When string

// Whens are the values of --color.
var Whens = []string{"auto", "always", "never"}

func (w *When) String() string { return string(*w) }
func (w *When) Type() string   { return "when" }
func (w *When) Set(s string) error {
	for _, known := range Whens {
		if s == known {
			*w = When(s)
			return nil
		}
	}
	return fmt.Errorf("it is one of %s", strings.Join(Whens, ", "))
}

// Colours reports whether what goes to an end is coloured; tty says whether a person sits there. The flag counts most,
// then NO_COLOR, CLICOLOR_FORCE and the terminal.
func (s *Screen) Colours(tty bool) bool {
	switch {
	case s.JSON || s.Color == "never":
		return false
	case s.Color == "always":
		return true
	case s.Getenv("NO_COLOR") != "":
		return false
	}
	if force := s.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return tty && s.Getenv("TERM") != "dumb" && s.Getenv("CLICOLOR") != "0"
}

// Out prints the answer of a command: text on standard output. Everything that may come from an agent, a repository or
// a state file passes through here, so control sequences never reach a terminal.
func (s *Screen) Out(format string, args ...any) { s.OutAt(0, format, args...) }

// OutAt is Out for a row of a table: what follows in the next line begins at a column, 0 for four behind the first.
func (s *Screen) OutAt(column int, format string, args ...any) {
	s.print(s.Stdout, s.StdoutTTY, column, format, args)
}

// Note prints progress: text on standard error, nothing under --json.
func (s *Screen) Note(format string, args ...any) { s.NoteAt(0, format, args...) }

// NoteAt is OutAt for progress.
func (s *Screen) NoteAt(column int, format string, args ...any) {
	if !s.JSON {
		s.print(s.Stderr, s.StderrTTY, column, format, args)
	}
}

// Fail prints an error and the command that may help, "" for none.
func (s *Screen) Fail(message, hint string) {
	s.print(s.Stderr, s.StderrTTY, 0, "error: %s", []any{strings.TrimSpace(message)})
	if hint != "" {
		s.print(s.Stderr, false, 0, "hint: %s", []any{hint})
	}
}

func (s *Screen) print(to io.Writer, tty bool, column int, format string, args []any) {
	text := Render(s.Colours(tty), format, args...)
	if tty && s.Width > 0 {
		text = wrapped(text, s.Width, column)
	}
	fmt.Fprint(to, text+"\n")
}

// Table prints rows of texts, styled or not, in aligned columns; on a terminal they are cut where the line would wrap.
func (s *Screen) Table(rows [][]any) {
	s.Lines(aligned(rows))
}

// WholeTable is Table without cutting, for what people copy.
func (s *Screen) WholeTable(rows [][]any) {
	for _, row := range aligned(rows) {
		s.Out("%s", fit(row, 0))
	}
}

// Short prints one line of standard output that need not be read to its end: a terminal cuts it.
func (s *Screen) Short(format string, args ...any) { s.Line(Join(fmt.Sprintf(format, args...))) }

// Line prints one line of standard output, cut where the terminal ends.
func (s *Screen) Line(line Styled) {
	for i := range line {
		line[i].text = strings.ReplaceAll(safetext.Strip(line[i].text), "\n", " ")
	}
	s.Out("%s", fit(line, s.Width))
}

// Lines is Line for several, in one write.
func (s *Screen) Lines(lines []Styled) {
	var all strings.Builder
	to := *s
	to.Stdout = &all
	for _, line := range lines {
		to.Line(line)
	}
	fmt.Fprint(s.Stdout, all.String())
}

// Next prints the commands that may be typed next: on one line, or on one each where they would not fit.
func (s *Screen) Next(commands []string) {
	if len(commands) == 0 {
		return
	}
	line := "next: " + commands[0]
	below := line
	for i, c := range commands[1:] {
		word := "or"
		if i == 0 && strings.Contains(commands[0], "wfs diff") { // whoever has looked decides
			word = "then"
		}
		line += "   " + word + ": " + c
		below += "\n" + strings.Repeat(" ", 4-len(word)) + word + ": " + c
	}
	if s.Width > 0 && safetext.Width(line) > s.Width {
		line = below
	}
	s.Out("%s", Strong(line))
}

// Steps prints the commands that are to be typed next, one after the other.
func (s *Screen) Steps(commands []string) {
	word := "next"
	for _, c := range commands {
		s.Out("%s", Strong(word+": "+c))
		word = "then"
	}
}
