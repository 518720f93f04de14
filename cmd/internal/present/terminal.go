package present

import (
	"bytes"
	"io"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// Terminal passes text on to a terminal without control sequences, but for colours.
type Terminal struct {
	To   io.Writer
	rest []byte // an unfinished line
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

// Close writes what is left.
func (t *Terminal) Close() error {
	_, err := io.WriteString(t.To, onlyColours(string(t.rest)))
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
