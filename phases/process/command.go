package process

import (
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows"
)

const ReportWord = `$WFS_REPORT`

// PrintedLines are quoted of the output of a command by an error about it.
const PrintedLines = 20

// Exit codes with which a shell says that a command is not there, or may not be executed (POSIX, Shell Command
// Language,
// 2.8.2).
const (
	ExitNotExecutable = 126
	ExitNotFound      = 127
)

// LastLines are the last lines of a text, as wide as is shown.
func LastLines(text string, most, width int) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = safetext.Line(line, width); line != "" {
			lines = append(lines[max(0, len(lines)+1-most):], line)
		}
	}
	return lines
}

// Argv are the words of a command; a shell gets those of a line.
func Argv(c workflows.Command) []string {
	if c.Shell != "" {
		return []string{"sh", "-c", c.Shell}
	}
	return c.Argv
}
