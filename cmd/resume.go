package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

func (a *app) resumeCmd() *cobra.Command {
	var o struct {
		at, backup       string
		fresh, auto, dry bool
	}
	c := &cobra.Command{
		Use: "resume [SESSION | CHECKPOINT]", Short: "check out a session, or go to one of its checkpoints",
		Long: `Resume checks a session out in this work tree; it runs nothing. After an interruption your edits stay.
With a checkpoint, such as csv-export@4, or @4 of the current session, the session goes back (or forward) to it;
@0 is its beginning. What is in the work tree is saved first, and no checkpoint is ever deleted.

With --backup the session goes to the checkpoint that a backup was made upon, and gets the files of the backup:
--backup=NUMBER is one of wfs backups, --backup alone the last one of an interrupted run.`,
		Example: "  wfs resume\n  wfs resume csv-export@4\n  wfs resume @4 --dry-run\n  wfs resume --backup\n  wfs resume csv-export --backup=3",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			word := first(args)
			if o.fresh {
				word += "@0"
			}
			if o.at != "" {
				word += "@" + o.at
			}
			if o.at != "" || o.fresh {
				a.isNow("wfs resume " + word)
			}
			if o.auto {
				a.isNow("wfs resume --backup")
				o.backup = autoName
			}
			if n := strings.Count(word, "@"); n > 1 || n > 0 && o.backup != "" {
				return usage("wfs resume --help", "resume takes one checkpoint, or --backup")
			}
			return a.resume(c.Context(), word, o.backup, o.dry)
		},
	}
	c.Flags().StringVar(&o.at, "at", "", "go to this `checkpoint`")
	c.Flags().BoolVar(&o.fresh, "fresh", false, "go to checkpoint 0")
	c.Flags().BoolVar(&o.auto, "auto", false, "")
	_, _, _ = c.Flags().MarkHidden("at"), c.Flags().MarkHidden("fresh"), c.Flags().MarkHidden("auto")
	c.Flags().StringVar(&o.backup, "backup", "", "restore the files of this `backup`")
	c.Flags().Lookup("backup").NoOptDefVal = autoName
	dryFlag(c, &o.dry)
	return c
}

// resume goes to a session, or to a checkpoint or backup of it.
func (a *app) resume(ctx context.Context, word, backup string, dry bool) error {
	name, checkpoint, ok := strings.Cut(word, "@")
	if err := a.EnterNamed(ctx, name); err != nil {
		return err
	}
	if err := a.BeginOr(ctx, dry, "wfs resume", false); err != nil {
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
	if !dry {
		if saved, err = a.Leave(ctx, "wfs resume", id); err != nil {
			return err
		}
	}
	auto, err := a.findBackup(ctx, id, backup) // before the session recovers, which may replace it
	if err != nil {
		return err
	}
	if dry {
		return a.preview(ctx, id, func(l *engine.Look) (transition.Preview, error) {
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
	return a.sayMoved(h, r, saved)
}

// findBackup returns the backup of a session that has a name, nil for "".
func (a *app) findBackup(ctx context.Context, id session.ID, name string) (*transition.AutoFound, error) {
	switch name {
	case "":
		return nil, nil
	case autoName:
		return a.Engine.FindAuto(ctx, id)
	}
	return a.Engine.FindBackup(ctx, id, name)
}
