package process

import (
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows"
)

const ReportWord = `$WFS_REPORT`

// PrintedLines is the number of lines of output that an error about a command quotes.
const PrintedLines = 20

// These are the exit codes of a shell for a command that may not be executed or does not exist (POSIX, Shell Command
// Language, 2.8.2).
const (
	ExitNotExecutable = 126
	ExitNotFound      = 127
)

// LastLines returns the last lines of a text that are not empty, at most `most`, each cut to `width` characters.
func LastLines(text string, most, width int) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = safetext.Line(line, width); line != "" {
			lines = append(lines[max(0, len(lines)+1-most):], line)
		}
	}
	return lines
}

var errorWord = lazyregexp.New(`(?i)(^|\W)(error|err!|fatal|failed|cannot)(\W|$)`)

// ErrorLines returns those lines of a text that are not empty, from the first one with a word such as "error" on, or
// all. If they are more than `most`, it cuts out the middle: some tools print the reason first, others last. Each line
// is cut to `width` characters.
func ErrorLines(text string, most, width int) []string {
	lines := LastLines(text, strings.Count(text, "\n")+1, width)
	if at := slices.IndexFunc(lines, errorWord.MatchString); at > 0 {
		lines = lines[at:]
	}
	if more := len(lines) - most; more > 0 {
		lines = slices.Concat(lines[:most/2], []string{"…"}, lines[most/2+more:])
	}
	return lines
}

// Argv returns the words of a command. For a shell line these are `sh -c LINE`.
func Argv(c workflows.Command) []string {
	if c.Shell != "" {
		return []string{"sh", "-c", c.Shell}
	}
	return c.Argv
}
