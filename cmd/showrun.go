package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/session"
)

// runJSON is one run: what came of it, and what the agent did in it.
type runJSON struct {
	Version int                     `json:"version"`
	ID      session.ID              `json:"id"`
	RunID   string                  `json:"run_id"`
	Started *session.AttemptStarted `json:"started,omitempty"`
	Result  *session.RunResult      `json:"result,omitempty"` // none while it goes on, or when it was cut short
	Logs    string                  `json:"logs,omitempty"`   // directory on this machine
	Events  []agents.Record         `json:"events"`
}

// maxRunLog is more than a run's events ever take, in bytes.
const maxRunLog = 16 << 20

// showRun tells what an agent did: in the attempt of a checkpoint, or with n < 0 in the newest run of the session.
func (a *app) showRun(ctx context.Context, id session.ID, n int) error {
	events, err := a.history(ctx, id)
	if err != nil {
		return err
	}
	j := runJSON{Version: jsonVersion, ID: id, Events: []agents.Record{}}
	for _, e := range events {
		switch b := e.Body.(type) {
		case session.AttemptStarted:
			j.RunID, j.Started, j.Result = b.RunID, &b, nil
		case session.RunEnded:
			j.Result = &b.RunResult
		}
		if b, ok := e.Body.(session.Checkpointed); ok && b.Number == n {
			if b.Attempt == 0 && b.Trigger != session.TriggerInterrupted {
				j.RunID = "" // somebody else made it
			}
			break
		}
	}
	if j.RunID == "" {
		if n < 0 {
			return usage("wfs run", "%s has had no run yet", id)
		}
		return usage("wfs show "+itoa(n), "no agent worked for checkpoint %d", n)
	}
	dir, err := a.Clone.RunDir(id, j.RunID)
	if err != nil {
		return err
	}
	if isDir(dir) {
		j.Logs = dir
		if j.Events, err = runEvents(dir); err != nil {
			return err
		}
	}
	if a.json {
		return a.answer(j)
	}
	a.page(ctx)
	a.sayRun(&j)
	return nil
}

// runEvents reads what an agent did from the log of its run.
func runEvents(dir string) ([]agents.Record, error) {
	list := []agents.Record{}
	data, err := durable.ReadFile(filepath.Join(dir, phases.EventsFile), maxRunLog)
	if errors.Is(err, fs.ErrNotExist) { // made by an older wfs
		return list, nil
	}
	for line := range bytes.Lines(data) {
		if r, ok := agents.DecodeRecord(line); ok {
			list = append(list, r)
		}
	}
	return list, err
}

func (a *app) sayRun(j *runJSON) {
	if s := j.Started; s != nil {
		a.out("%s  lap %d  attempt %d  run %s", s.Phase, s.Lap, s.Attempt, j.RunID)
	}
	if r := j.Result; r != nil {
		a.out("%s%s%s", ranAs(*r), took(r.Millis), claimed(*r))
		if text := usedText(r); text != "" {
			a.out("%s", text)
		}
	} else {
		a.out("its end is not recorded: it still runs, or was cut off")
	}
	if j.Logs == "" {
		a.out("no log of it is left on this machine")
		return
	}
	a.out("logs: %s", j.Logs)
	a.sayRecords(j.Events)
}

// sayRecords tells what an agent did, and when, from its first deed on.
func (a *app) sayRecords(list []agents.Record) {
	for _, r := range list {
		head := clockText(r.At.Sub(list[0].At))
		for i, line := range recordLines(r.Event) {
			if i > 0 {
				head = ""
			}
			a.out("%8s  %s", head, line)
		}
	}
}

// recordLines is what an agent did. What it said is told in full.
func recordLines(e agents.Event) []string {
	switch e.Kind {
	case agents.Text:
		return strings.Split(strings.TrimSpace(safetext.Strip(answered(e.Text))), "\n")
	case agents.Usage: // the sum stands above
		return nil
	}
	if text := agentText(e, true); text != "" {
		return []string{text}
	}
	return nil
}

// usedText says who worked and what was used up: "claude 2.1.329  $0.42  41k tokens  12 tool calls  2 refused".
func usedText(r *session.RunResult) string {
	var parts []string
	add := func(is bool, format string, args ...any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(r.Agent != "", "%s", strings.TrimSpace(r.Agent+" "+r.AgentVersion))
	add(r.Model != "", "%s", r.Model)
	add(r.CostUSD+r.EstimatedUSD > 0, "%s", usdText(r.Usage()))
	add(r.Tokens.Sum() > 0, "%s", tokensText(r.Tokens))
	add(r.Turns > 0, "%d %s", r.Turns, plural(r.Turns, "turn", "turns"))
	add(r.Tools > 0, "%d tool %s", r.Tools, plural(r.Tools, "call", "calls"))
	add(r.Denials > 0, "%d refused", r.Denials)
	return strings.Join(parts, "  ")
}
