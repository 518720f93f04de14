package process

import (
	"strings"

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

// Argv returns the words of a command. For a shell line these are `sh -c LINE`.
func Argv(c workflows.Command) []string {
	if c.Shell != "" {
		return []string{"sh", "-c", c.Shell}
	}
	return c.Argv
}
