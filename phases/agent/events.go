package agent

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/process"
)

// EventsFile is what the agent of a run did, in the vocabulary of internal/agents: one record on each line.
const EventsFile = "events.jsonl"

// maxEvents bounds that file, in bytes. Beyond it the middle is cut out, as of the output.
const maxEvents = 8 << 20

// runLog takes the events of one run: into the file of its run, and to whoever watches. Events come one at a time, from
// whichever stream they are of.
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

// Event is where a decoder emits to. What it reads is without secrets; those that it puts together are taken out here.
func (l *runLog) Event(e agents.Event) {
	if e.Kind != agents.Other {
		l.keep(e.Map(l.clean.String))
	}
}

// said is a line that a program printed for people, without secrets.
func (l *runLog) said(line string) { l.keep(agents.Event{Kind: agents.Text, Text: line}) }

func (l *runLog) keep(e agents.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.log.Write(agents.EncodeRecord(l.now(), e))
	l.watch(e)
}
