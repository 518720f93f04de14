package cmd

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/workspace"
)

// showJSON is a checkpoint with its evidence.
type showJSON struct {
	Version     int                    `json:"version"`
	ID          session.ID             `json:"id"`
	Address     string                 `json:"address"`
	Checkpoint  session.Checkpoint     `json:"checkpoint"`
	Reason      string                 `json:"reason,omitempty"` // of the verdict
	Gates       []session.GateResult   `json:"gates,omitempty"`
	NotRun      []session.NotRun       `json:"not_run,omitempty"` // gates that judge later
	Proof       *session.Proof         `json:"proof,omitempty"`
	Holdout     *session.HoldoutResult `json:"holdout,omitempty"`
	Evidence    *session.Evidence      `json:"evidence,omitempty"`
	Tampered    []session.Tampering    `json:"tampered,omitempty"` // what was done to tests
	Experiments []session.Experiment   `json:"experiments,omitempty"`
	Review      *session.Review        `json:"review,omitempty"` // of a phase that is a review
	RunID       string                 `json:"run_id,omitempty"`
	Logs        string                 `json:"logs,omitempty"`         // directory on this machine
	HoldoutLogs string                 `json:"holdout_logs,omitempty"` // another one, of which whoever works is not told
	Body        string                 `json:"body"`                   // of the commit message
}

func (a *app) showCmd() *cobra.Command {
	var run bool
	c := &cobra.Command{
		Use: "show [SESSION | CHECKPOINT]", Short: "a session, or one checkpoint with its evidence",
		Long: `Show prints a session's story, or a checkpoint: the verdict, every gate's result, the tests, and where
the logs are. A checkpoint is SESSION@7, @7 of the current session, or its commit; SESSION@auto is the newest
backup of a run. It writes nothing and takes no lock.

With --run it prints what the agent did, step by step: in the attempt of that checkpoint, or in the last run.
That comes from logs on this machine, outside Git, which wfs gc removes one day.`,
		Example: `  wfs show
  wfs show @7
  wfs show @7 --run                what did the agent do there?
  wfs show csv-export@7 --json`,
		Args: upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if err := a.Open(ctx); err != nil {
				return err
			}
			if id, ok, err := a.autoNamed(ctx, first(args)); err != nil {
				return err
			} else if ok {
				return a.showAuto(ctx, id)
			}
			if len(args) == 1 {
				id, n, err := a.Address(ctx, args[0])
				if err == nil {
					if run {
						return a.showRun(ctx, id, n)
					}
					return a.showCheckpoint(ctx, id, n)
				}
				if strings.Contains(args[0], "@") {
					return err
				}
				if _, isNumber := workspace.CheckpointNumber(args[0]); isNumber {
					return err
				}
			}
			id, err := a.Resolve(ctx, first(args))
			if err != nil {
				return err
			}
			if run {
				return a.showRun(ctx, id, -1)
			}
			if !a.json {
				a.page(ctx)
			}
			return a.tellOf(ctx, id)
		},
	}
	c.Flags().BoolVar(&run, "run", false, "tell what the agent did, step by step")
	return c
}

func (a *app) showCheckpoint(ctx context.Context, id session.ID, n int) error {
	v, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	s := &v.Session
	c := s.At(n)
	info, err := a.Repo.CommitInfo(ctx, c.Code)
	if err != nil {
		return err
	}
	j := showJSON{Version: jsonVersion, ID: id, Address: string(id) + "@" + itoa(n), Checkpoint: *c, Body: info.Body}
	if c.Trigger == session.TriggerAttempt {
		if err := a.addEvidence(ctx, &j); err != nil {
			return err
		}
	}
	j.HoldoutLogs = a.holdoutLogs(j.Holdout)
	if a.json {
		return a.answer(j)
	}
	a.page(ctx)
	a.out("%s  %s", j.Address, info.Subject)
	a.out("commit %s  %s", c.Code, time.Unix(c.At, 0).UTC().Format("2006-01-02 15:04 UTC"))
	if j.Reason != "" {
		a.out("%s: %s", present.Verdict(c.Verdict, c.Class), j.Reason)
	}
	if present.Refuted(s, n) {
		a.out("the agent said it is done")
	}
	a.env.Review(j.Review)
	a.env.Forced(c.SkippedPhases)
	a.env.Gates(j.Gates, "", true)
	a.env.NotRun(j.NotRun)
	for _, x := range j.Experiments {
		a.out("tried: %s", x.Says)
	}
	if j.Proof != nil {
		a.out("%s", present.ProofLine(j.Proof))
	}
	a.env.Holdout(j.Holdout)
	if j.HoldoutLogs != "" {
		a.out("what the hold-out tests printed: %s", j.HoldoutLogs)
	}
	a.env.Tampered(j.Tampered, j.Reason)
	if text := present.Cost(c.Used); text != "" {
		a.out("cost: %s", text)
	}
	if text := present.Lacks(c); text != "" {
		a.out("incomplete: it lacks %s", text)
	}
	a.env.Deletes(c)
	if j.Logs != "" {
		a.out("logs: %s", j.Logs)
	}
	from := session.Commit("")
	if n > 0 {
		from = s.At(n - 1).Code
	}
	a.out("")
	if from != "" {
		return a.diffTo(ctx, from, c.Code, object.DiffOptions{Stat: true})
	}
	return nil
}

// addEvidence finds what was judged at a checkpoint, in the ledger commit that made it.
func (a *app) addEvidence(ctx context.Context, j *showJSON) error {
	commits, err := a.Repo.Ledgers(ctx, j.ID)
	if err != nil {
		return err
	}
	for _, lc := range commits {
		data, err := a.Repo.File(ctx, lc.Commit, session.FileEvents)
		if err != nil {
			return err
		}
		events, err := codec.DecodeLines(data)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			continue
		}
		if b, ok := events[len(events)-1].Body.(session.Checkpointed); !ok || b.Number != j.Checkpoint.Number {
			continue
		}
		for _, e := range events {
			switch b := e.Body.(type) {
			case session.AttemptStarted:
				j.RunID = b.RunID
			case session.RunEnded:
				j.Review = b.Review
			case session.Judged:
				j.NotRun, j.Experiments = b.NotRun, b.Experiments
				j.Gates, j.Reason, j.Proof, j.Tampered, j.Holdout = b.Gates, b.Reason, b.Proof, b.Tampered, b.Holdout
			case session.Decided: // which may know more than the gates
				j.Reason = b.Reason
			}
		}
		ev, err := a.Engine.Evidence(ctx, lc.Commit, session.FileEvidence)
		if err != nil {
			return err
		}
		j.Evidence = &ev
		if dir := filepath.Join(a.Repo.StateDir(), "sessions", string(j.ID), "runs", j.RunID); j.RunID != "" && isDir(dir) {
			j.Logs = dir
		}
		return nil
	}
	return nil
}
