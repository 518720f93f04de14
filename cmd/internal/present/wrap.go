package present

import (
	"cmp"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/safetext"
)

// wrapped breaks long lines between words and indents the rest to `column`. It does not break commands, so that users
// can copy them in one piece.
func wrapped(text string, width, column int) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if leadsToCommand.MatchString(safetext.Strip(line)) {
			out = append(out, line)
			continue
		}
		unindented := strings.TrimLeft(line, " ")
		at := len(line) - len(unindented)
		indent := strings.Repeat(" ", min(cmp.Or(column, at+4), width/2))
		line = line[:at]
		for i, word := range words(unindented) {
			w := safetext.Width(safetext.Strip(word))
			switch {
			case i == 0:
			case at+1+w > width && at > len(indent):
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

// words splits a line at its spaces. It keeps a command and everything after the command together as one word.
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
