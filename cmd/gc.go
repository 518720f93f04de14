package cmd

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace/check"
	"github.com/wfs-dev/wfs/workspace/rubbish"
)

// defaultKeepDays is the default of the flag --days: wfs gc removes nothing that is younger than this many days.
const defaultKeepDays = 30

type gcJSON struct {
	Version int            `json:"version"`
	Removed bool           `json:"removed"`
	Items   []rubbish.Item `json:"items"`
	Bytes   int64          `json:"bytes"`
	Objects int64          `json:"objects"`
}

type gcVerb struct {
	*app
	force, dry bool
	days       int
}

func (a *gcVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "gc", Short: "remove old data: logs of runs, deleted sessions",
		Long: `Gc shows what can be removed, and its size; with --force it removes it. It skips everything younger
than --days:

  logs of runs           but for the newest run of a session that is not over
  backups                whose content is in checkpoints, and that wfs undo does not need
                         or that are older than later events
  deleted sessions       permanently, with everything that only they hold
  left-over directories  of sessions and work trees that no longer exist

Checkpoints of sessions are never removed: use wfs delete. The only copy of something stays, and is listed. Git
frees the objects at its next gc.`,
		Example: "  wfs gc\n  wfs gc --force\n  wfs gc --days 7 --json",
		Args:    noArgs,
		RunE:    with(a.run),
	}
	c.Flags().BoolVar(&a.force, "force", false, "remove it")
	c.Flags().BoolVar(&a.dry, "dry-run", false, "only show it, as without --force")
	c.Flags().IntVar(&a.days, "days", defaultKeepDays, "keep everything younger than this many days")
	return c
}

func (a *gcVerb) run(ctx context.Context, _ []string) error {
	if a.days < 0 || a.force && a.dry {
		return usage("wfs gc --help", "--days must not be negative, and --force and --dry-run exclude each other")
	}
	open := a.Open
	if a.force {
		open = func(ctx context.Context) error { return a.Begin(ctx, "wfs gc", true) }
	}
	if err := open(ctx); err != nil {
		return err
	}
	holdouts, _ := holdoutStore(a.Env)
	search := &rubbish.Search{Workspace: a.Workspace, Rooms: a.rooms, Holdouts: holdouts,
		Before: a.env.Now().AddDate(0, 0, -a.days), Ago: func(t time.Time) string { return present.Ago(t, a.env.Now()) }}
	found, err := search.Find(ctx)
	if err != nil {
		return err
	}
	j := gcJSON{Version: jsonVersion, Removed: a.force, Items: list(found)}
	if err := a.collect(ctx, search, &j); err != nil {
		return err
	}
	if a.json {
		return a.answer(j)
	}
	a.say(j)
	return nil
}

// collect adds up the sizes of the items that may be removed. With --force it also removes them.
func (a *gcVerb) collect(ctx context.Context, search *rubbish.Search, j *gcJSON) (err error) {
	for i := range j.Items {
		r := &j.Items[i]
		if a.force && r.Kept == "" {
			if r.Kept, err = search.Remove(ctx, *r); err != nil {
				return err
			}
		}
		if r.Kept == "" {
			j.Bytes, j.Objects = j.Bytes+r.Bytes, j.Objects+r.Objects
		}
	}
	if !a.force {
		return nil
	}
	a.Repo.DropEmpty()
	return a.Repo.Repack(ctx, 2)
}

func (a *gcVerb) say(j gcJSON) {
	some := false
	for _, r := range j.Items {
		if r.Kept == "" {
			some = true
			a.out("%s: %s", r.What, weight(r.Bytes, r.Objects))
		}
	}
	for _, r := range j.Items {
		if r.Kept != "" {
			a.out("kept: %s (%s)", r.What, r.Kept)
		}
	}
	switch {
	case !some:
		a.out("there is nothing to remove")
	case j.Removed:
		a.out("removed: %s", weight(j.Bytes, j.Objects))
	default:
		a.out("in all: %s; nothing was removed", weight(j.Bytes, j.Objects))
		a.next([]string{"wfs gc --force"})
	}
}

func weight(files, objects int64) string {
	text := check.Bytes(files) + " of files"
	switch {
	case files == 0 && objects == 0:
		return "nothing of size"
	case files == 0:
		return "about " + check.Bytes(objects) + " of objects, at the next git gc"
	case objects > 0:
		text += ", about " + check.Bytes(objects) + " of objects at the next git gc"
	}
	return text
}

// sessionIDs returns the IDs of a repository's sessions, sorted.
func sessionIDs(ctx context.Context, repo *gitstate.Repo) ([]session.ID, error) {
	all, err := repo.Sessions(ctx)
	return slices.Sorted(maps.Keys(all)), err
}
