package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// out prints the answer of a command: text on standard output. Everything that may come from an agent, a repository or
// a state file passes through here, so control sequences never reach a terminal.
func (a *app) out(format string, args ...any) {
	a.outAt(0, format, args...)
}

// outAt is out for a row of a table: what follows in the next line begins at a column, 0 for four behind the first.
func (a *app) outAt(column int, format string, args ...any) {
	a.doing.clear()
	fmt.Fprint(a.env.Stdout, a.wrapped(render(a.colours(a.env.StdoutTTY), format, args), a.env.StdoutTTY, column)+"\n")
}

// note prints progress: text on standard error, nothing under --json.
func (a *app) note(format string, args ...any) {
	a.noteAt(0, format, args...)
}

// noteAt is outAt for progress.
func (a *app) noteAt(column int, format string, args ...any) {
	if !a.json {
		a.doing.clear()
		fmt.Fprint(a.env.Stderr, a.wrapped(render(a.colours(a.env.StderrTTY), format, args), a.env.StderrTTY, column)+"\n")
	}
}

// wrapped breaks long lines between words, for a terminal, and indents what follows. What is to be typed stays in one
// piece, to be copied.
func (a *app) wrapped(text string, tty bool, column int) string {
	if !tty || a.env.Width == 0 {
		return text
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if leadsToCommand.MatchString(safetext.Strip(line)) {
			out = append(out, line)
			continue
		}
		unindented := strings.TrimLeft(line, " ")
		at := len(line) - len(unindented)
		indent := strings.Repeat(" ", min(cmp.Or(column, at+4), a.env.Width/2))
		line = line[:at]
		for i, word := range words(unindented) {
			w := safetext.Width(safetext.Strip(word))
			switch {
			case i == 0:
			case at+1+w > a.env.Width && at > len(indent):
				out = append(out, line)
				line, at = indent, len(indent)
			default:
				line, at = line+" ", at+1
			}
			line, at = line+word, at+w
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

var (
	leadsToCommand = lazyregexp.New(`^(next|then|undo|redo|hint): `)
	commandIn      = lazyregexp.New(`(^wfs [a-z]|(: |\()\(?(wfs|git|cd|mv|rm|cp) [^ ]|: --[a-z]+ ').*$`)
)

// words splits a line at its spaces. A command, and all that follows it, is one word.
func words(line string) []string {
	if at := commandIn.FindStringIndex(line); at != nil {
		from := at[0] + len(line[at[0]:]) - len(strings.TrimLeft(line[at[0]:], ": "))
		if from == 0 {
			return []string{line}
		}
		return append(strings.Split(strings.TrimSuffix(line[:from], " "), " "), line[from:])
	}
	return strings.Split(line, " ")
}

// answer prints a value as JSON on one line.
func (a *app) answer(v any) error {
	data, err := json.Marshal(v)
	if err == nil && len(a.done) > 0 {
		data, err = a.withRecovered(data)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.env.Stdout, string(data))
	return err
}

// next prints the commands that may be typed next: on one line, or on one each where they would not fit.
func (a *app) next(cmds []string) {
	if len(cmds) == 0 {
		return
	}
	line, below := "next: "+cmds[0], "next: "+cmds[0]
	for i, c := range cmds[1:] {
		word := "or"
		if i == 0 && strings.Contains(cmds[0], "wfs diff") { // whoever has looked decides
			word = "then"
		}
		line += "   " + word + ": " + c
		below += "\n" + strings.Repeat(" ", 4-len(word)) + word + ": " + c
	}
	if a.env.Width > 0 && safetext.Width(line) > a.env.Width {
		line = below
	}
	a.out("%s", styled{{line, strong}})
}

// steps prints the commands that are to be typed next, one after the other.
func (a *app) steps(cmds []string) {
	for i, c := range cmds {
		word := "next"
		if i > 0 {
			word = "then"
		}
		a.out("%s", styled{{word + ": " + c, strong}})
	}
}

// list is a slice that JSON writes as [] when it is empty.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// terminal passes text on to a terminal without control sequences, but for colours.
type terminal struct {
	w    io.Writer
	rest []byte // an unfinished line
}

func (t *terminal) Write(p []byte) (int, error) {
	t.rest = append(t.rest, p...)
	end := bytes.LastIndexByte(t.rest, '\n') + 1
	if end == 0 && len(t.rest) < 1<<20 {
		return len(p), nil
	}
	if end == 0 {
		end = len(t.rest)
	}
	_, err := io.WriteString(t.w, onlyColours(string(t.rest[:end])))
	t.rest = append([]byte{}, t.rest[end:]...)
	return len(p), err
}

// Close writes what is left.
func (t *terminal) Close() error {
	_, err := io.WriteString(t.w, onlyColours(string(t.rest)))
	t.rest = nil
	return err
}

// onlyColours strips text but for SGR sequences, ESC [ digits and semicolons m.
func onlyColours(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			b.WriteString(safetext.Strip(s))
			return b.String()
		}
		n := i + 2
		for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == ';') {
			n++
		}
		if n < len(s) && s[n] == 'm' {
			b.WriteString(safetext.Strip(s[:i]) + s[i:n+1])
			s = s[n+1:]
			continue
		}
		// Not a colour: the whole sequence goes, up to the next one that may be.
		next := strings.Index(s[i+2:], "\x1b[")
		if next < 0 {
			b.WriteString(safetext.Strip(s))
			return b.String()
		}
		b.WriteString(safetext.Strip(s[:i+2+next]))
		s = s[i+2+next:]
	}
}

// diffTo prints a difference, which is text out of the repository.
func (a *app) diffTo(ctx context.Context, from, to session.Commit, o gitstate.DiffOptions) error {
	o.Color = a.colours(a.env.StdoutTTY)
	if !a.env.StdoutTTY {
		return a.Repo.DiffTo(ctx, string(from), string(to), o, a.env.Stdout)
	}
	t := &terminal{w: a.env.Stdout}
	if err := a.Repo.DiffTo(ctx, string(from), string(to), o, t); err != nil {
		return err
	}
	return t.Close()
}
