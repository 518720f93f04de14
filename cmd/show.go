package cmd

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

type showVerb struct {
	*app
	run   bool   // print the steps of the agent
	views []bool // which of `shown` are chosen
}

func (a *showVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "show [SESSION | CHECKPOINT]", Short: "a session, or one checkpoint with its evidence",
		Long: `Show prints a session's story, or a checkpoint: the verdict, every gate's result, the tests, and where
the logs are. A checkpoint is SESSION@7, @7 of the current session, or its commit; SESSION@auto is the newest
backup of a run. It writes nothing and takes no lock.

With --run it prints what the agent did, step by step: in the attempt of that checkpoint, or in the last run.
That comes from logs on this machine, outside Git, which wfs gc removes one day.

The other flags print one side of the session's history, or of what led to one checkpoint. It is kept with the
session, includes attempts that it has gone back from ("left"), and can be combined. Files are those of checkpoints.`,
		Example: `  wfs show
  wfs show @7
  wfs show @7 --run                what did the agent do there?
  wfs show --decisions             who decided what, and why
  wfs show --patterns              what repeats, and where time and money went
  wfs show csv-export@7 --json`,
		Args: upTo(1),
		RunE: with(a.show),
	}
	c.Flags().BoolVar(&a.run, "run", false, "tell what the agent did, step by step")
	a.views = make([]bool, len(shown))
	for i, v := range shown {
		c.Flags().BoolVar(&a.views[i], v.name, false, v.help)
	}
	return c
}

func (a *showVerb) show(ctx context.Context, args []string) error {
	if a.run && a.anyView() {
		return usage("wfs show --help", "--run excludes the other views")
	}
	if err := a.Open(ctx); err != nil {
		return err
	}
	name := first(args)
	if id, ok, err := autoNamed(ctx, a.Workspace, name); err != nil {
		return err
	} else if ok && (a.run || a.anyView()) {
		return usage("wfs show "+string(id)+"@"+autoName, "a backup has no history of its own")
	} else if ok {
		return a.showAuto(ctx, id)
	}
	if name != "" {
		id, n, err := a.Address(ctx, name)
		if err == nil {
			return a.showAt(ctx, id, n)
		}
		if _, isNumber := workspace.CheckpointNumber(name); isNumber || strings.Contains(name, "@") {
			return err
		}
	}
	id, err := a.Resolve(ctx, name)
	if err != nil {
		return err
	}
	switch {
	case a.run:
		return a.showRun(ctx, id, -1)
	case a.anyView():
		return a.showViews(ctx, id, -1)
	}
	a.page(ctx)
	return (&statusVerb{app: a.app}).tellOf(ctx, id)
}

// showAt prints checkpoint n of a session or, with --run, the steps of the agent that made it, or the chosen views.
func (a *showVerb) showAt(ctx context.Context, id session.ID, n int) error {
	switch {
	case a.run:
		return a.showRun(ctx, id, n)
	case a.anyView():
		return a.showViews(ctx, id, n)
	}
	return a.showCheckpoint(ctx, id, n)
}

func (a *showVerb) showCheckpoint(ctx context.Context, id session.ID, n int) error {
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
	j := present.Checkpoint{Version: jsonVersion, ID: id, Address: string(id) + "@" + itoa(n), Checkpoint: *c,
		Body: info.Body}
	if c.Trigger == session.TriggerAttempt {
		if err := a.addEvidence(ctx, &j); err != nil {
			return err
		}
	}
	j.HoldoutLogs = holdoutLogs(a.Env, j.Holdout)
	if a.json {
		return a.answer(j)
	}
	a.page(ctx)
	a.env.Checkpoint(&j, info.Subject, present.Refuted(s, n))
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

// addEvidence adds the evidence for a checkpoint. It finds the evidence in the ledger commit that made the checkpoint.
func (a *showVerb) addEvidence(ctx context.Context, j *present.Checkpoint) error {
	ledger, events, err := madeBy(ctx, a.Workspace, j.ID, j.Checkpoint.Number)
	if ledger == "" || err != nil {
		return err
	}
	addVerdict(j, events)
	ev, err := a.Engine.Evidence(ctx, ledger, session.FileEvidence)
	if err != nil {
		return err
	}
	j.Evidence = &ev
	if dir := filepath.Join(a.Repo.StateDir(), "sessions", string(j.ID), "runs", j.RunID); j.RunID != "" && isDir(dir) {
		j.Logs = dir
	}
	return nil
}

// madeBy returns the ledger commit that made checkpoint n of a session, with its events; "" if there is none.
func madeBy(ctx context.Context, w *workspace.Workspace, id session.ID, n int) (session.Commit, []session.Event,
	error) {
	commits, err := w.Repo.Ledgers(ctx, id)
	if err != nil {
		return "", nil, err
	}
	for _, lc := range commits {
		events, err := w.Engine.EventsOf(ctx, lc.Commit)
		if err != nil {
			return "", nil, err
		}
		if makes(events, n) {
			return lc.Commit, events, nil
		}
	}
	return "", nil, nil
}

// addJudged adds the results of judging the current checkpoint to the session of completed work that lacks them,
// because it has moved there from another checkpoint. It returns the ledger commit that made the checkpoint; if the
// session lacks nothing, its newest one.
func addJudged(ctx context.Context, w *workspace.Workspace, v *history.View) session.Commit {
	s := &v.Session
	if s.Status != session.StatusCompleted || s.Last != nil {
		return v.Tip
	}
	ledger, events, err := madeBy(ctx, w, s.ID, s.Current)
	if ledger == "" || err != nil {
		return v.Tip // only for display
	}
	for _, e := range events {
		switch b := e.Body.(type) {
		case session.Judged:
			s.LastGates, s.NotRun = b.Gates, b.NotRun
		case session.Decided:
			s.Last = &b
		}
	}
	return ledger
}

// makes reports whether these events of a ledger commit made checkpoint n. If so, that is the last of them.
func makes(events []session.Event, n int) bool {
	if len(events) == 0 {
		return false
	}
	b, ok := events[len(events)-1].Body.(session.Checkpointed)
	return ok && b.Number == n
}

// addVerdict adds the results of judging the attempt that made a checkpoint.
func addVerdict(j *present.Checkpoint, events []session.Event) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case session.AttemptStarted:
			j.RunID = b.RunID
		case session.RunEnded:
			j.Review = b.Review
		case session.Judged:
			j.NotRun, j.Experiments = b.NotRun, b.Experiments
			j.Gates, j.Reason, j.Proof, j.Tampered, j.Holdout = b.Gates, b.Reason, b.Proof, b.Tampered, b.Holdout
		case session.Decided: // the decision's reason may know more than the gates'
			j.Reason = b.Reason
		}
	}
}
