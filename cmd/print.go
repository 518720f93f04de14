package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// out prints the answer of a command: text on standard output. Everything that may come from an agent, a repository or
// a state file passes through here, so control sequences never reach a terminal.
func (a *app) out(format string, args ...any) {
	fmt.Fprint(a.env.Stdout, safetext.Strip(fmt.Sprintf(format, args...))+"\n")
}

// note prints progress: text on standard error, nothing under --json.
func (a *app) note(format string, args ...any) {
	if !a.json {
		fmt.Fprint(a.env.Stderr, safetext.Strip(fmt.Sprintf(format, args...))+"\n")
	}
}

// answer prints a value as JSON on one line.
func (a *app) answer(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.env.Stdout, string(data))
	return err
}

// next prints the commands that may be typed next.
func (a *app) next(cmds []string) {
	if len(cmds) > 0 {
		a.out("next: %s", strings.Join(cmds, "   or: "))
	}
}

// list is a slice that JSON writes as [] when it is empty.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// table prints rows in aligned columns. The last column is not padded.
func table(w io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-len([]rune(cell))+2))
			}
		}
		fmt.Fprintln(w, safetext.Strip(strings.TrimRight(b.String(), " ")))
	}
}
