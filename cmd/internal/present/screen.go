// Package present formats sessions and results for people, and as JSON: lines, tables, the story of a session. It gets
// all values as arguments, and knows nothing about the commands that use it.
package present

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// Screen prints the answer of a command on standard output, and progress on standard error.
type Screen struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// StdinTTY, StdoutTTY and StderrTTY say whether the stream is a terminal.
	StdinTTY, StdoutTTY, StderrTTY bool
	// Width is the width in columns of the terminal at standard output. It is 0 if there is no terminal, or if the
	// width is unknown.
	Width int
	JSON  bool
	// Color is the value of the flag --color: auto, always or never.
	Color  When
	Getenv func(name string) string
	Clock  func() time.Time
	// Facts looks up data that is not part of the values to print.
	Facts Facts
	// AtExit registers a function that runs before a third Ctrl-C ends the process at once.
	AtExit func(func())
}

// When is the value of the flag --color.
type When string

// Whens are the valid values of --color.
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

// Colours reports whether to print colours to a stream. `tty` says whether the stream is a terminal. The flag --color
// decides first, then NO_COLOR and CLICOLOR_FORCE. If none of them is set, colours are for terminals only.
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

// Draws reports whether the user's terminal can update lines in place, and the user does not mind.
func Draws(getenv func(name string) string) bool {
	term, accessible := getenv("TERM"), getenv("ACCESSIBLE")
	return term != "dumb" && term != "" && (accessible == "" || accessible == "0" || accessible == "false")
}

// Out prints the answer of a command on standard output. All text from an agent, a repository or a state file goes
// through here, so that control sequences never reach a terminal.
func (s *Screen) Out(format string, args ...any) { s.OutAt(0, format, args...) }

// OutAt prints like Out, for a row of a table: if the line wraps, the rest is indented to `column`. A column of 0 means
// four columns more than the line's own indentation.
func (s *Screen) OutAt(column int, format string, args ...any) {
	s.print(s.Stdout, s.StdoutTTY, column, format, args)
}

// Note prints progress on standard error; it prints nothing with --json.
func (s *Screen) Note(format string, args ...any) { s.NoteAt(0, format, args...) }

// NoteAt prints progress like Note, and indents wrapped lines like OutAt.
func (s *Screen) NoteAt(column int, format string, args ...any) {
	if !s.JSON {
		s.print(s.Stderr, s.StderrTTY, column, format, args)
	}
}

// Fail prints an error, and a hint unless it is "".
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

// Table prints rows in aligned columns. On a terminal it cuts long lines instead of wrapping them.
func (s *Screen) Table(rows [][]any) {
	s.Lines(aligned(rows))
}

// WholeTable prints a table like Table, but never cuts a line, so that people can copy all of it. A long last column
// wraps below itself.
func (s *Screen) WholeTable(rows [][]any) {
	widths := columns(rows)
	for i, line := range aligned(rows) {
		last := 0
		for _, w := range widths[:len(rows[i])-1] {
			last += w + 2
		}
		s.OutAt(last, "%s", fit(line, 0))
	}
}

// Short formats and prints a line on standard output, cut to the width of the terminal. Use it for lines whose end is
// not important.
func (s *Screen) Short(format string, args ...any) { s.Line(Join(fmt.Sprintf(format, args...))) }

// Line prints a line on standard output, cut to the width of the terminal.
func (s *Screen) Line(line Styled) {
	for i := range line {
		line[i].text = strings.ReplaceAll(safetext.Strip(line[i].text), "\n", " ")
	}
	s.Out("%s", fit(line, s.Width))
}

// Lines prints several lines like Line, in one write.
func (s *Screen) Lines(lines []Styled) {
	var all strings.Builder
	to := *s
	to.Stdout = &all
	for _, line := range lines {
		to.Line(line)
	}
	fmt.Fprint(s.Stdout, all.String())
}

// Next prints the suggested next commands: on one line if they fit, otherwise each on its own line.
func (s *Screen) Next(commands []string) {
	if len(commands) == 0 {
		return
	}
	line := "next: " + commands[0]
	below := line
	for i, c := range commands[1:] {
		word := "or"
		if i == 0 && strings.Contains(commands[0], "wfs diff") { // look at the changes before the decision
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

// Steps prints commands that the user has to type one after the other.
func (s *Screen) Steps(commands []string) {
	word := "next"
	for _, c := range commands {
		s.Out("%s", Strong(word+": "+c))
		word = "then"
	}
}
