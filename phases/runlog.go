package phases

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/redact"
)

// EventsFile is what the agent of a run did, in the vocabulary of internal/agents: one record on each line.
const EventsFile = "events.jsonl"

// maxEvents bounds that file, in bytes. Beyond it the middle is cut out, as of the output.
const maxEvents = 8 << 20

// runLog takes the events of one run: into the file of its run, and to whoever watches. Events come one at a time, from
// whichever stream they are of.
type runLog struct {
	mu    sync.Mutex
	log   *boundedLog
	ready []byte // records of the piece of output that is being read
	now   func() time.Time
	clean *redact.Redactor
	watch func(agents.Event)
}

func (r *Runner) newRunLog(runDir string) (*runLog, error) {
	log, err := newLog(filepath.Join(runDir, EventsFile), maxEvents)
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
	l.ready = append(l.ready, agents.EncodeRecord(l.now(), e)...)
	l.watch(e)
}

// Write is called behind what reads a piece of output, with that piece: its events go to the file at once.
func (l *runLog) Write(piece []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ready) > 0 {
		_, _ = l.log.Write(l.ready)
		l.ready = l.ready[:0]
	}
	return len(piece), nil
}

func (l *runLog) Close() error {
	_, _ = l.Write(nil)
	return l.log.Close()
}
