package agent

import (
	"errors"
	"fmt"
	"io"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/process"
)

// progress returns a writer that passes each line to report, in a form that is safe to show in a terminal.
func progress(report func(string)) *agents.Lines {
	return &agents.Lines{Most: 4 * process.MaxShown, Line: func(text string) {
		if line := process.Shown(text); line != "" && report != nil {
			report(line)
		}
	}}
}

// output receives a run's output and removes secrets. It writes everything to the log, and passes each line on as
// progress.
type output struct {
	log      *process.Log
	events   *runLog // nil for the set-up of a work tree, which has no events
	progress *agents.Lines
	safe     *redact.Stream
}

func newOutput(log *process.Log, events *runLog, secrets *redact.Redactor, report func(string)) *output {
	o := &output{log: log, events: events, progress: progress(report)}
	o.safe = secrets.Stream(io.MultiWriter(log, o.progress))
	return o
}

func (o *output) Write(p []byte) (int, error) { return o.safe.Write(p) }

// flush passes on the last line even if it does not end with a newline.
func (o *output) flush() {
	_ = o.safe.Close()
	o.progress.Flush()
}

// note adds a line from wfs itself to the output.
func (o *output) note(line string) { _, _ = fmt.Fprintf(o, "wfs: %s\n", line) }

func (o *output) Close() error {
	o.flush()
	if o.events == nil {
		return o.log.Close()
	}
	return errors.Join(o.log.Close(), o.events.log.Close())
}
