package present

import (
	"bytes"
	"io"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/safetext"
)

// Terminal writes text to a terminal. It removes control sequences, except those that set colours, because the text may
// come from a repository or an agent.
type Terminal struct {
	To   io.Writer
	rest []byte // the start of a line that is still incomplete
}

func (t *Terminal) Write(p []byte) (int, error) {
	t.rest = append(t.rest, p...)
	end := bytes.LastIndexByte(t.rest, '\n') + 1
	if end == 0 && len(t.rest) < 1<<20 {
		return len(p), nil
	}
	if end == 0 {
		end = len(t.rest)
	}
	_, err := io.WriteString(t.To, onlyColours(string(t.rest[:end])))
	t.rest = append([]byte{}, t.rest[end:]...)
	return len(p), err
}

// Close writes the last line if it does not end in a newline.
func (t *Terminal) Close() error {
	_, err := io.WriteString(t.To, onlyColours(string(t.rest)))
	t.rest = nil
	return err
}

// sgr matches control sequences that set colours.
var sgr = lazyregexp.New(`\x1b\[[0-9;]*m`)

// onlyColours strips all control sequences, except those that set colours.
func onlyColours(s string) string {
	var b strings.Builder
	at := 0
	for _, found := range sgr.FindAllStringIndex(s, -1) {
		b.WriteString(safetext.Strip(s[at:found[0]]) + s[found[0]:found[1]])
		at = found[1]
	}
	b.WriteString(safetext.Strip(s[at:]))
	return b.String()
}
