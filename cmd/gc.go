package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// defaultKeepDays is how long wfs gc leaves everything alone.
const defaultKeepDays = 30

// rubbish is one thing that wfs gc can remove, or keeps although it is old.
type rubbish struct {
	Kind    string     `json:"kind"` // logs, rescue, auto-save, deleted, left-over
	Session session.ID `json:"session,omitempty"`
	What    string     `json:"what"`            // for people
	Bytes   int64      `json:"bytes"`           // of files
	Objects int64      `json:"objects"`         // bytes that git can free later
	Refs    []string   `json:"refs,omitempty"`  // that go
	Paths   []string   `json:"paths,omitempty"` // directories that go
	Kept    string     `json:"kept,omitempty"`  // why it stays
	litter  []registry.Litter
	clean   string // directory of a clean tree, "" for none
	again   bool   // of a deleted session: there is one of that name
}

type gcJSON struct {
	Version int       `json:"version"`
	Removed bool      `json:"removed"`
	Items   []rubbish `json:"items"`
	Bytes   int64     `json:"bytes"`
	Objects int64     `json:"objects"`
}

func (a *app) gcCmd() *cobra.Command {
	var force, dry bool
	var days int
	c := &cobra.Command{
		Use: "gc", Short: "remove old data: logs of runs, deleted sessions",
		Long: `Gc shows what can be removed, and its size; with --force it removes it. It skips everything younger than --days:

  logs of runs           but for the newest run of a session that is not over
  backups                whose content is in checkpoints, and that wfs undo does not need
                         or that are older than later events
  deleted sessions       permanently, with everything that only they hold
  left-over directories  of sessions and work trees that no longer exist

Checkpoints of sessions are never removed: use wfs delete. The only copy of something stays, and is listed. Git frees
the objects at its next gc.`,
		Example: "  wfs gc\n  wfs gc --force\n  wfs gc --days 7 --json",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if days < 0 || force && dry {
				return &usageError{"--days must not be negative, and --force and --dry-run exclude each other", "wfs gc --help"}
			}
			return a.gc(c.Context(), force, days)
		},
	}
	c.Flags().BoolVar(&force, "force", false, "remove it")
	c.Flags().BoolVar(&dry, "dry-run", false, "only show it, as without --force")
	c.Flags().IntVar(&days, "days", defaultKeepDays, "keep everything younger than this many days")
	return c
}

func (a *app) gc(ctx context.Context, force bool, days int) error {
	open := a.open
	if force {
		open = func(ctx context.Context) error { return a.begin(ctx, "wfs gc", true) }
	}
	if err := open(ctx); err != nil {
		return err
	}
	list, err := a.findRubbish(ctx, a.env.Now().AddDate(0, 0, -days))
	if err != nil {
		return err
	}
	j := gcJSON{Version: jsonVersion, Removed: force, Items: []rubbish{}}
	held := map[session.ID]string{"": ""} // by session, why it cannot be taken
	for _, r := range list {
		if force && r.Kept == "" {
			if r.Kept, err = a.remove(ctx, r, held); err != nil {
				return err
			}
		}
		if r.Kept == "" {
			j.Bytes, j.Objects = j.Bytes+r.Bytes, j.Objects+r.Objects
		}
		j.Items = append(j.Items, r)
	}
	if force {
		a.repo.DropEmpty()
		if err := a.repo.Repack(ctx, 2); err != nil {
			return err
		}
	}
	if a.json {
		return a.answer(j)
	}
	a.sayGC(j)
	return nil
}

func (a *app) sayGC(j gcJSON) {
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
	text := inBytes(files) + " of files"
	switch {
	case files == 0 && objects == 0:
		return "nothing of size"
	case files == 0:
		return "about " + inBytes(objects) + " of objects, at the next git gc"
	case objects > 0:
		text += ", about " + inBytes(objects) + " of objects at the next git gc"
	}
	return text
}

func inBytes(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// remove takes one thing away. It returns why it was left alone, "" when it was not.
func (a *app) remove(ctx context.Context, r rubbish, held map[session.ID]string) (kept string, err error) {
	why, asked := held[r.Session]
	if !asked {
		err := a.hold("wfs gc", r.Session)
		switch {
		case errors.Is(err, durable.ErrLocked):
			why = "another process is using it"
		case err != nil:
			return "", err
		}
		held[r.Session] = why
	}
	if why != "" {
		return why, nil
	}
	if r.again {
		if kept, err = a.onlyThere(ctx, r); kept != "" || err != nil {
			return kept, err
		}
	}
	var moves []session.RefMove
	for _, name := range r.Refs {
		tip, err := a.repo.Ref(ctx, name)
		if err != nil {
			return "", err
		}
		moves = append(moves, session.RefMove{Ref: name, Old: tip})
	}
	if _, err := a.repo.Settle(ctx, r.Session, session.Turn{Refs: moves}); err != nil {
		return "", err
	}
	for _, l := range r.litter {
		if err := a.clone.Remove(l); err != nil {
			return "", err
		}
	}
	if r.clean != "" {
		return "", a.removeRoom(r.clean)
	}
	return "", nil
}

// findRubbish looks for everything that nobody has touched since a time.
func (a *app) findRubbish(ctx context.Context, before time.Time) ([]rubbish, error) {
	var all []rubbish
	for _, find := range []func(context.Context, time.Time) ([]rubbish, error){a.oldRuns, a.oldRescues, a.oldAutoSaves, a.oldDeletions, a.leftOvers, a.oldCleanTrees, a.oldHoldouts} {
		list, err := find(ctx, before)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

func (a *app) oldRuns(ctx context.Context, before time.Time) ([]rubbish, error) {
	var list []rubbish
	ids, err := a.sessionIDs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		v, err := a.view(ctx, id)
		if err != nil {
			continue // one that cannot be read is for a person, with everything of it
		}
		keep := []string{"baseline", v.Session.LastRun, v.Session.Started}
		if v.Session.Status.Final() {
			keep = nil
		}
		runs, err := a.clone.OldRuns(id, before, keep...)
		if err != nil {
			return nil, err
		}
		if len(runs) > 0 {
			list = append(list, weighed(rubbish{Kind: "logs", Session: id, What: fmt.Sprintf("logs of %d %s of %s", len(runs), plural(len(runs), "run", "runs"), id)}, runs...))
		}
	}
	return list, nil
}

// weighed adds directories to what goes.
func weighed(r rubbish, litter ...registry.Litter) rubbish {
	for _, l := range litter {
		r.Bytes += l.Bytes
		r.Paths = append(r.Paths, l.Path)
	}
	r.litter = append(r.litter, litter...)
	return r
}

func (a *app) sessionIDs(ctx context.Context) ([]session.ID, error) {
	all, err := a.repo.Sessions(ctx)
	return slices.Sorted(maps.Keys(all)), err
}

func (a *app) oldDeletions(ctx context.Context, before time.Time) ([]rubbish, error) {
	all, err := a.deletions(ctx)
	if err != nil {
		return nil, err
	}
	there, err := a.repo.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	left := map[session.ID]int{}
	for _, d := range all {
		left[d.ID]++
	}
	var list []rubbish
	for _, d := range all {
		if !unix(d.DeletedAt).Before(before) {
			continue
		}
		refs, err := a.repo.RefsBelow(ctx, strings.TrimSuffix(d.Kept, "/"))
		if err != nil {
			return nil, err
		}
		r := rubbish{Kind: "deleted", Session: d.ID, Refs: sortedKeys(refs), What: fmt.Sprintf("session %s, deleted %s", d.ID, ago(unix(d.DeletedAt), a.env.Now()))}
		slices.SortStableFunc(r.Refs, func(x, y string) int { // the ledger last: until then it can be brought back
			return cmp.Compare(rankOf(x), rankOf(y))
		})
		if r.Objects, err = a.repo.Weight(ctx, r.Refs); err != nil {
			return nil, err
		}
		if r.again = there[d.ID] != ""; r.again {
			if r.Kept, err = a.onlyThere(ctx, r); err != nil {
				return nil, err
			}
		}
		if left[d.ID]--; left[d.ID] == 0 && there[d.ID] == "" { // nothing of that name is left
			l, _, err := a.clone.SessionLitter(d.ID)
			if err != nil {
				return nil, err
			}
			if l.Path != "" {
				r = weighed(r, l)
			}
		}
		list = append(list, r)
	}
	return list, nil
}

// onlyThere says what copies of a session hold that is there again, "" for nothing: they are those of a restore that was
// killed before it came to remove them.
func (a *app) onlyThere(ctx context.Context, r rubbish) (string, error) {
	only, err := a.repo.OnlyBelow(ctx, r.Refs)
	if only == "" {
		return "", err
	}
	return "the session exists again, and this has additional commits: git log " + only.Short(), nil
}

func rankOf(ref string) int {
	if strings.HasSuffix(ref, "/ledger") {
		return 1
	}
	return 0
}

// leftOvers are directories of sessions and work trees that no longer exist.
func (a *app) leftOvers(ctx context.Context, before time.Time) ([]rubbish, error) {
	known, err := a.clone.Sessions()
	if err != nil {
		return nil, err
	}
	there, err := a.repo.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	deleted, err := a.deletions(ctx)
	if err != nil {
		return nil, err
	}
	var list []rubbish
	for _, id := range known {
		if there[id] != "" || slices.ContainsFunc(deleted, func(d deletedJSON) bool { return d.ID == id }) {
			continue
		}
		l, events, err := a.clone.SessionLitter(id)
		if err != nil {
			return nil, err
		}
		if !l.Newest.Before(before) {
			continue
		}
		r := weighed(rubbish{Kind: "left-over", Session: id, What: "left over of session " + string(id)}, l)
		if events {
			r.Kept = "its journal has events, but its history is missing: fetch it, or remove " + l.Path
		}
		list = append(list, r)
	}
	trees, err := a.repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	gone, err := a.clone.WorktreeLitter(func(id string) (bool, error) {
		for _, t := range trees {
			if t.ID == id {
				return true, nil
			}
		}
		return id == a.repo.Worktree(), nil
	})
	if err != nil {
		return nil, err
	}
	for _, l := range gone {
		if l.Newest.Before(before) {
			list = append(list, weighed(rubbish{Kind: "left-over", What: "left over of work tree " + filepath.Base(l.Path)}, l))
		}
	}
	return list, nil
}
