package process

import (
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows"
)

const ReportWord = `$WFS_REPORT`

// PrintedLines is the number of output lines that an error about a command quotes.
const PrintedLines = 20

// Exit codes of a shell for a command that does not exist or may not be executed (POSIX, Shell Command Language,
// 2.8.2).
const (
	ExitNotExecutable = 126
	ExitNotFound      = 127
)

// LastLines returns at most so many last lines of a text, each cut to a width.
func LastLines(text string, most, width int) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = safetext.Line(line, width); line != "" {
			lines = append(lines[max(0, len(lines)+1-most):], line)
		}
	}
	return lines
}

// Argv returns the words of a command; a shell line becomes `sh -c LINE`.
func Argv(c workflows.Command) []string {
	if c.Shell != "" {
		return []string{"sh", "-c", c.Shell}
	}
	return c.Argv
}
