package gate

import (
	"sync"

	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
)

// lockedStream writes one or both of a program's output streams. Both share the lock and the destinations. It is used
// as a pointer, because proc.Run makes a single pipe of two equal writers.
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

// lastLines keeps the last lines of a text.
type lastLines struct {
	secrets *redact.Redactor // for lines that are not redacted yet
	report.End
}

const maxTail = 64 << 10 // bytes searched for the last lines

func newLastLines() *lastLines { return &lastLines{End: report.End{Most: maxTail}} }

func (l *lastLines) add(line string) { _, _ = l.Write([]byte(line + "\n")) }

func (l *lastLines) lines() []string {
	return process.LastLines(l.secrets.String(l.String()), process.PrintedLines, 300)
}
