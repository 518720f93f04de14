package gate

import (
	"sync"

	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
)

// lockedStream receives standard output, standard error or both from a program. The two streams of a program share the
// lock and the readers. It is used as a pointer, because proc.Run makes a single pipe if both writers are equal.
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

// lastLines keeps the last lines that were added to it.
type lastLines struct {
	secrets *redact.Redactor // for lines from which secrets have not been removed yet
	report.End
}

const maxTail = 64 << 10 // bytes searched for the last lines

func newLastLines() *lastLines { return &lastLines{End: report.End{Most: maxTail}} }

func (l *lastLines) add(line string) { _, _ = l.Write([]byte(line + "\n")) }

func (l *lastLines) lines() []string {
	return process.LastLines(l.secrets.String(l.String()), process.PrintedLines, 300)
}
