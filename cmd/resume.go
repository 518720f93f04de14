package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

func (a *app) resumeCmd() *cobra.Command {
	var o resumeOptions
	c := &cobra.Command{
		Use: "resume [SESSION | CHECKPOINT]", Short: "check out a session, or go to one of its checkpoints",
		Long: `Resume checks a session out in this work tree; it runs nothing. After an interruption your edits stay. With a checkpoint,
such as csv-export@4, or @4 of the current session, the session goes back (or forward) to it; @0 is its beginning. What
is in the work tree is saved first, and no checkpoint is ever deleted.

With --backup the session goes to the checkpoint that a backup was made upon, and gets the files of the backup:
--backup=NUMBER is one of wfs backups, --backup alone the last one of an interrupted run.`,
		Example: "  wfs resume\n  wfs resume csv-export@4\n  wfs resume @4 --dry-run\n  wfs resume --backup\n  wfs resume csv-export --backup=3",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			if o.at != "" {
				a.spelledNow("wfs resume " + first(args) + "@" + o.at)
			}
			if o.fresh {
				a.spelledNow("wfs resume " + first(args) + "@0")
			}
			if o.auto {
				a.spelledNow("wfs resume --backup")
				o.backup = autoName
			}
			if name, cp, ok := strings.Cut(first(args), "@"); ok {
				if o.at != "" || o.fresh || o.backup != "" {
					return &usageError{first(args) + " names a checkpoint already", c.CommandPath() + " " + first(args)}
				}
				o.at = cp
				return a.resume(c.Context(), name, o)
			}
			if o.at != "" && o.fresh || o.at != "" && o.backup != "" || o.fresh && o.backup != "" {
				return &usageError{"--at, --fresh and --backup exclude each other", "wfs resume --help"}
			}
			return a.resume(c.Context(), first(args), o)
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

type resumeOptions struct {
	at, backup       string
	fresh, auto, dry bool
}

func (a *app) resume(ctx context.Context, name string, o resumeOptions) error {
	at := o.at
	if err := a.OpenWriter(ctx); err != nil {
		return err
	}
	if other, cp, ok := strings.Cut(at, "@"); ok { // --at auth@4 names the session as well
		if name != "" {
			x, err := a.Resolve(ctx, name)
			if err != nil {
				return err
			}
			y, err := a.Resolve(ctx, other)
			if err != nil {
				return err
			}
			if x != y {
				return &usageError{fmt.Sprintf("%q and --at %s name two sessions", name, at), ""}
			}
		}
		name, at = other, cp
	}
	if err := a.EnterNamed(ctx, name); err != nil {
		return err
	}
	if err := a.beginOr(ctx, o.dry, "wfs resume", false); err != nil {
		return err
	}
	id, err := a.Resolve(ctx, name)
	if err != nil {
		return err
	}
	number := -1
	if o.fresh {
		number = 0
	}
	if at != "" {
		v, err := a.View(ctx, id)
		if err != nil {
			return err
		}
		if number, err = workspace.FindCheckpoint(&v.Session, at); err != nil {
			return err
		}
	}
	if o.dry {
		return a.previewResume(ctx, id, number, o.backup)
	}
	saved, err := a.Leave(ctx, "wfs resume", id)
	if err != nil {
		return err
	}
	var auto *engine.AutoFound
	if o.backup != "" { // before the session recovers, which may replace it
		if auto, err = a.findBackup(ctx, id, o.backup); err != nil {
			return err
		}
	}
	h, err := a.Take(ctx, id)
	if err != nil {
		return err
	}
	var r *engine.Relocated
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

// previewResume says what a resume would do.
func (a *app) previewResume(ctx context.Context, id session.ID, number int, backup string) error {
	if backup == "" {
		return a.preview(ctx, id, func(l *engine.Look) (engine.Preview, error) { return l.Resume(ctx, number) })
	}
	found, err := a.findBackup(ctx, id, backup)
	if err != nil {
		return err
	}
	return a.preview(ctx, id, func(l *engine.Look) (engine.Preview, error) { return l.ResumeAuto(ctx, found) })
}

// findBackup returns the backup of a session that has a name.
func (a *app) findBackup(ctx context.Context, id session.ID, name string) (*engine.AutoFound, error) {
	if name == autoName {
		return a.Engine.FindAuto(ctx, id)
	}
	return a.Engine.FindBackup(ctx, id, name)
}
