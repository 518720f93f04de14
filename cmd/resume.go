package cmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present/ways"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

type resumeVerb struct {
	*app
	at, backup             string
	fresh, auto, dry, keep bool
}

func (a *resumeVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "resume [SESSION | CHECKPOINT]", Short: "check out a session, or go to one of its checkpoints",
		Long: `Resume checks a session out in this work tree; it runs nothing. After an interruption your edits stay.
With a checkpoint, such as csv-export@4, or @4 of the current session, the session goes back (or forward) to it;
@0 is its beginning. What is in the work tree is saved first, and no checkpoint is ever deleted.

After an interruption, resume alone asks at a terminal which way to continue: wfs status lists the ways, with
what each keeps and loses. --keep, or naming the session, keeps the files without asking.

With --backup the session goes to the checkpoint that a backup was made upon, and gets the files of the backup:
--backup=NUMBER is one of wfs backups, --backup alone the last one of an interrupted run.`,
		Example: "  wfs resume\n  wfs resume csv-export@4\n  wfs resume @4 --dry-run\n  wfs resume --keep\n  wfs resume --backup\n  wfs resume csv-export --backup=3",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	c.Flags().StringVar(&a.at, "at", "", "go to this `checkpoint`")
	c.Flags().BoolVar(&a.fresh, "fresh", false, "go to checkpoint 0")
	c.Flags().BoolVar(&a.auto, "auto", false, "")
	_, _, _ = c.Flags().MarkHidden("at"), c.Flags().MarkHidden("fresh"), c.Flags().MarkHidden("auto")
	c.Flags().StringVar(&a.backup, "backup", "", "restore the files of this `backup`")
	c.Flags().Lookup("backup").NoOptDefVal = autoName
	c.Flags().BoolVar(&a.keep, "keep", false, "keep the files as they are, and do not ask")
	dryFlag(c, &a.dry)
	return c
}

// run goes to a session, or to one of its checkpoints or backups.
func (a *resumeVerb) run(ctx context.Context, args []string) error {
	word := first(args)
	if a.fresh {
		word += "@0"
	}
	if a.at != "" {
		word += "@" + a.at
	}
	if a.at != "" || a.fresh {
		isNow(a.note, "wfs resume "+word)
	}
	if a.auto {
		isNow(a.note, "wfs resume --backup")
		a.backup = autoName
	}
	if word == "" && a.backup == "" && !a.dry && !a.keep && a.asksHere() {
		var goes bool
		var err error
		if word, goes, err = a.askWay(ctx); err != nil || !goes {
			return err
		}
	}
	if n := strings.Count(word, "@"); n > 1 || n > 0 && (a.backup != "" || a.keep) || a.backup != "" && a.keep {
		return usage("wfs resume --help", "resume takes one checkpoint, --backup or --keep")
	}
	name, checkpoint, ok := strings.Cut(word, "@")
	if err := a.EnterNamed(ctx, name); err != nil {
		return err
	}
	if err := a.BeginOr(ctx, a.dry, "wfs resume", false); err != nil {
		return err
	}
	id, err := a.Resolve(ctx, name)
	if err != nil {
		return err
	}
	number := -1
	if ok {
		v, err := a.View(ctx, id)
		if err != nil {
			return err
		}
		if number, err = workspace.FindCheckpoint(&v.Session, checkpoint); err != nil {
			return err
		}
	}
	var saved *session.Checkpoint
	if !a.dry {
		if saved, err = a.Leave(ctx, "wfs resume", id, ""); err != nil {
			return err
		}
	}
	auto, err := findBackup(ctx, a.Engine, id, a.backup) // the session's recovery below may replace it
	if err != nil {
		return err
	}
	if a.dry {
		return preview{a.app, id}.of(ctx, func(l *engine.Look) (transition.Preview, error) {
			if auto != nil {
				return l.ResumeAuto(ctx, auto)
			}
			return l.Resume(ctx, number)
		})
	}
	h, err := a.Take(ctx, id)
	if err != nil {
		return err
	}
	var r *transition.Relocated
	if auto != nil {
		r, err = h.ResumeAuto(ctx, auto)
	} else {
		r, err = h.Resume(ctx, number)
	}
	if err != nil {
		return err
	}
	if err := (moved{a.app, h, r, saved}).say(); err != nil {
		return err
	}
	readiness{app: a.app, s: &h.S, plan: h.Plan, in: a.Here()}.sayLacking(ctx)
	return nil
}

// askWay asks how to continue if the current session was interrupted. It returns the checkpoint to go to, such as "@4",
// or "" to keep the files, and sets a.backup if the answer is a backup. It returns goes=false if the user chose to do
// nothing.
func (a *resumeVerb) askWay(ctx context.Context) (word string, goes bool, err error) {
	if err := a.Open(ctx); err != nil {
		return "", true, err
	}
	id, err := a.Current(ctx)
	if err != nil || id == "" {
		return "", true, err
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return "", true, err
	}
	d := a.describe(&v.Session, a.Here())
	status := &statusVerb{app: a.app}
	status.addAutoSave(ctx, &d, &v.Session, v.Tip, a.Here())
	r := status.recoveryOf(ctx, &d, a.Here())
	if r == nil || len(d.Alive) > 0 { // resume refuses while processes of the run are alive
		return "", true, nil
	}
	r.Options = slices.DeleteFunc(r.Options, func(o ways.Option) bool { return o.Type == "fresh" })
	d.Recovery = r
	a.env.Standing(&d, string(id)+"  ")
	a.env.Recovery(r)
	known := []string{"", "n"}
	for i := range r.Options {
		known = append(known, strconv.Itoa(i+1))
	}
	answer, err := a.promptFor(ctx, fmt.Sprintf("Which? [1-%d, Enter: do nothing] ", len(r.Options)),
		"wfs resume --keep", known...)
	if err != nil {
		return "", true, err
	}
	n, err := strconv.Atoi(answer)
	if err != nil {
		a.note("nothing was moved")
		return "", false, nil
	}
	switch o := r.Options[n-1]; o.Type {
	case "complete":
	case "backup":
		a.backup = autoName
	default:
		word = fmt.Sprintf("@%d", o.Checkpoint)
	}
	return word, true, nil
}

// findBackup returns the session's backup called `name`. It returns nil if name is "".
func findBackup(ctx context.Context, e *engine.Engine, id session.ID, name string) (*transition.AutoFound, error) {
	switch name {
	case "":
		return nil, nil
	case autoName:
		return e.FindAuto(ctx, id)
	}
	return e.FindBackup(ctx, id, name)
}
