package cmd

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/session"
)

// maxRunLog is how many bytes of a run's log wfs reads at most. No run writes as many.
const maxRunLog = 16 << 20

// showRun prints the steps of an agent. They are those of the attempt that led to checkpoint n or, if n < 0, those of
// the newest run.
func (a *showVerb) showRun(ctx context.Context, id session.ID, n int) error {
	events, err := eventsOf(ctx, a.Workspace, id)
	if err != nil {
		return err
	}
	j := runUntil(events, n)
	j.Version, j.ID, j.Events = jsonVersion, id, []agents.Record{}
	if j.RunID == "" {
		if n < 0 {
			return usage("wfs run", "%s has had no run yet", id)
		}
		return usage("wfs show "+itoa(n), "no agent worked for checkpoint %d", n)
	}
	dir, err := a.Clone.Session(id).RunDir(j.RunID)
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
	a.env.Run(&j)
	return nil
}

// runUntil returns the run that made checkpoint n. Its RunID is "" if no agent made the checkpoint. If there is no
// checkpoint n, runUntil returns the last run.
func runUntil(events []session.Event, n int) (j present.Run) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case session.AttemptStarted:
			j.RunID, j.Started, j.Result = b.RunID, &b, nil
		case session.RunEnded:
			j.Result = &b.RunResult
		}
		if b, ok := e.Body.(session.Checkpointed); ok && b.Number == n {
			if b.Attempt == 0 && b.Trigger != session.TriggerInterrupted {
				j.RunID = "" // not made by an agent
			}
			break
		}
	}
	return j
}

// runEvents reads the agent's events from the log in the directory of a run.
func runEvents(dir string) ([]agents.Record, error) {
	list := []agents.Record{}
	data, err := durable.ReadFile(filepath.Join(dir, agent.EventsFile), maxRunLog)
	if errors.Is(err, fs.ErrNotExist) { // an older wfs wrote no such log
		return list, nil
	}
	for line := range bytes.Lines(data) {
		if r, ok := agents.DecodeRecord(line); ok {
			list = append(list, r)
		}
	}
	return list, err
}
