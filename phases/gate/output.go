package gate

import (
	"sync"

	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
)

// lockedStream is for one of a program's two streams, or for both. The two share the lock, and whatever is behind it.
// proc.Run makes one pipe of two writers that are equal: a pointer is.
type lockedStream struct {
	mu *sync.Mutex
	*redact.Stream
	count func()
}

func (l *lockedStream) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.count()
	return l.Stream.Write(b)
}

// lastLines keeps the end of a text, for its last lines.
type lastLines struct {
	secrets *redact.Redactor // of lines that are not redacted yet
	report.End
}

const maxTail = 64 << 10 // bytes in which the last lines are looked for

func newLastLines() *lastLines { return &lastLines{End: report.End{Most: maxTail}} }

func (l *lastLines) add(line string) { _, _ = l.Write([]byte(line + "\n")) }

func (l *lastLines) lines() []string {
	return process.LastLines(l.secrets.String(l.String()), process.PrintedLines, 300)
}
