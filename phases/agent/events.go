package agent

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/process"
)

// EventsFile is the file with the actions of a run's agent: one event of package internal/agents on each line.
const EventsFile = "events.jsonl"

// maxEvents limits EventsFile, in bytes. If there are more events, those in the middle are cut out, as in OutputFile.
const maxEvents = 8 << 20

// runLog writes the events of one run to EventsFile and passes them to the watcher, one at a time. The events may come
// from both output streams.
type runLog struct {
	mu    sync.Mutex
	log   *process.Log
	now   func() time.Time
	clean *redact.Redactor
	watch func(agents.Event)
}

func (r *Runner) newRunLog(runDir string) (*runLog, error) {
	log, err := process.NewLog(filepath.Join(runDir, EventsFile), maxEvents)
	if err != nil {
		return nil, err
	}
	watch := r.Watch
	if watch == nil {
		watch = func(e agents.Event) {
			if e.Kind == agents.Text && r.Report != nil {
				r.Report(e.Text)
			}
		}
	}
	return &runLog{log: log, now: r.Now, clean: r.Secrets, watch: watch}, nil
}

// Event receives the events of a decoder. It removes secrets: there is none in the decoder's input, but the decoder
// may put one together from parts.
func (l *runLog) Event(e agents.Event) {
	if e.Kind != agents.Other {
		l.keep(e.Map(l.clean.String))
	}
}

// said records a line that a program printed for people. It must not contain secrets.
func (l *runLog) said(line string) { l.keep(agents.Event{Kind: agents.Text, Text: line}) }

func (l *runLog) keep(e agents.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.log.Write(agents.EncodeRecord(l.now(), e))
	l.watch(e)
}
