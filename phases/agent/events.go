package agent

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/process"
)

// EventsFile has the actions of a run's agent, in the vocabulary of internal/agents: one record on each line.
const EventsFile = "events.jsonl"

// maxEvents limits that file, in bytes. If there is more, the middle is cut, as in the output.
const maxEvents = 8 << 20

// runLog writes the events of one run to its file, and passes them to the watcher. It handles one event at a time,
// whatever stream it is from.
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

// Event receives a decoder's events. The decoder's input has no secrets, but joining parts of it may produce one.
func (l *runLog) Event(e agents.Event) {
	if e.Kind != agents.Other {
		l.keep(e.Map(l.clean.String))
	}
}

// said records a line that a program printed for people, without secrets.
func (l *runLog) said(line string) { l.keep(agents.Event{Kind: agents.Text, Text: line}) }

func (l *runLog) keep(e agents.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.log.Write(agents.EncodeRecord(l.now(), e))
	l.watch(e)
}
