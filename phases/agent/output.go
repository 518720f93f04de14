package agent

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/process"
)

// progress reports output line by line, fit for a terminal.
type progress struct {
	report func(string)
	line   []byte
	long   bool // the rest of the line is passed over
}

func (p *progress) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		head, rest, ended := bytes.Cut(b, []byte{'\n'})
		if !p.long {
			p.line = append(p.line, head[:min(len(head), 4*process.MaxShown)]...)
			p.long = len(p.line) >= 4*process.MaxShown
		}
		if ended {
			p.flush()
		}
		b = rest
	}
	return n, nil
}

func (p *progress) flush() {
	if line := safetext.Line(string(p.line), process.MaxShown); line != "" && p.report != nil {
		p.report(line)
	}
	p.line, p.long = p.line[:0], false
}

// output is where a run's output goes, without secrets: all of it to the log, its lines to whoever watches.
type output struct {
	log      *process.Log
	events   *runLog // nil: nobody but Report is told, as of a set-up
	progress progress
	safe     *redact.Stream
}

func newOutput(log *process.Log, events *runLog, secrets *redact.Redactor, report func(string)) *output {
	o := &output{log: log, events: events, progress: progress{report: report}}
	o.safe = secrets.Stream(process.Both{Log: log, To: &o.progress})
	return o
}

func (o *output) Write(p []byte) (int, error) { return o.safe.Write(p) }

// flush passes on the last line, without an end.
func (o *output) flush() {
	_ = o.safe.Close()
	o.progress.flush()
}

// note writes a line of the engine's own.
func (o *output) note(line string) { _, _ = fmt.Fprintf(o, "wfs: %s\n", line) }

func (o *output) Close() error {
	o.flush()
	if o.events == nil {
		return o.log.Close()
	}
	return errors.Join(o.log.Close(), o.events.log.Close())
}
