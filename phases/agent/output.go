package agent

import (
	"errors"
	"fmt"
	"io"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/process"
)

// progress reports output line by line, fit for a terminal.
func progress(report func(string)) *agents.Lines {
	return &agents.Lines{Most: 4 * process.MaxShown, Line: func(text string) {
		if line := process.Shown(text); line != "" && report != nil {
			report(line)
		}
	}}
}

// output distributes a run's output, without secrets: everything to the log, lines to the watcher.
type output struct {
	log      *process.Log
	events   *runLog // nil for a set-up: only Report gets its lines
	progress *agents.Lines
	safe     *redact.Stream
}

func newOutput(log *process.Log, events *runLog, secrets *redact.Redactor, report func(string)) *output {
	o := &output{log: log, events: events, progress: progress(report)}
	o.safe = secrets.Stream(io.MultiWriter(log, o.progress))
	return o
}

func (o *output) Write(p []byte) (int, error) { return o.safe.Write(p) }

// flush passes on the last line if it has no newline.
func (o *output) flush() {
	_ = o.safe.Close()
	o.progress.Flush()
}

// note writes a line from the engine itself.
func (o *output) note(line string) { _, _ = fmt.Fprintf(o, "wfs: %s\n", line) }

func (o *output) Close() error {
	o.flush()
	if o.events == nil {
		return o.log.Close()
	}
	return errors.Join(o.log.Close(), o.events.log.Close())
}
