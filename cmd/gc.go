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

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace/check"
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
	outside bool       // the paths are not below the clone's own directory
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
		RunE: func(c *cobra.Command, _ []string) error {
			if days < 0 || force && dry {
				return usage("wfs gc --help",
					"--days must not be negative, and --force and --dry-run exclude each other")
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
	open := a.Open
	if force {
		open = func(ctx context.Context) error { return a.Begin(ctx, "wfs gc", true) }
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
		a.Repo.DropEmpty()
		if err := a.Repo.Repack(ctx, 2); err != nil {
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

// remove takes one thing away. It returns why it was left alone, "" when it was not.
func (a *app) remove(ctx context.Context, r rubbish, held map[session.ID]string) (kept string, err error) {
	why, asked := held[r.Session]
	if !asked {
		err := a.Hold("wfs gc", r.Session)
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
	var moves []session.RefMove
	for _, name := range r.Refs {
		tip, err := a.Repo.Ref(ctx, name)
		if err != nil {
			return "", err
		}
		moves = append(moves, session.RefMove{Ref: name, Old: tip})
	}
	if _, err := a.Repo.Settle(ctx, r.Session, session.Turn{Refs: moves}); err != nil {
		return "", err
	}
	for _, path := range r.Paths {
		remove := func() error { return a.Clone.Remove(registry.Litter{Path: path}) }
		if r.outside {
			remove = func() error { return a.removeRoom(path) }
		}
		if err := remove(); err != nil {
			return "", err
		}
	}
	return "", nil
}

// search looks for everything that was not touched since a time.
type search struct {
	*app
	ctx     context.Context
	before  time.Time
	there   map[session.ID]session.Commit
	deleted []deletedJSON
	found   []rubbish
}

func (g *search) young(seconds int64) bool { return !unix(seconds).Before(g.before) }

// add adds something of a session, "" for none, with directories that go.
func (g *search) add(r rubbish, id session.ID, kind, what string, dirs ...registry.Litter) {
	r.Kind, r.Session, r.What = kind, id, what
	for _, l := range dirs {
		r.Bytes += l.Bytes
		r.Paths = append(r.Paths, l.Path)
	}
	g.found = append(g.found, r)
}

func (g *search) addOutside(what, path string) {
	g.add(rubbish{outside: true}, "", "left-over", what, registry.Litter{Path: path, Bytes: sizeBelow(path)})
}

func (a *app) findRubbish(ctx context.Context, before time.Time) ([]rubbish, error) {
	g := &search{app: a, ctx: ctx, before: before}
	var err error
	if g.there, err = a.Repo.Sessions(ctx); err != nil {
		return nil, err
	}
	if g.deleted, err = a.deletions(ctx); err != nil {
		return nil, err
	}
	for _, find := range []func() error{g.runs, g.rescues, g.autoSaves, g.deletedSessions, g.leftOvers, g.cleanTrees,
		g.holdouts} {
		if err := find(); err != nil {
			return nil, err
		}
	}
	return g.found, nil
}

func (g *search) runs() error {
	for _, id := range slices.Sorted(maps.Keys(g.there)) {
		v, err := g.View(g.ctx, id)
		if err != nil {
			continue // one that cannot be read is for a person, with everything of it
		}
		keep := []string{"baseline", v.Session.LastRun, v.Session.Started}
		if v.Session.Status.Final() {
			keep = nil
		}
		runs, err := g.Clone.Session(id).OldRuns(g.before, keep...)
		if err != nil {
			return err
		}
		if len(runs) > 0 {
			g.add(rubbish{}, id, "logs", fmt.Sprintf("logs of %d %s of %s", len(runs), plural(len(runs), "run", "runs"), id),
				runs...)
		}
	}
	return nil
}

// autoSaves are stale when the session has gone on.
func (g *search) autoSaves() error {
	for _, id := range slices.Sorted(maps.Keys(g.there)) {
		auto, err := g.Repo.Auto(g.ctx, id)
		if err != nil {
			return err
		}
		if auto != nil && auto.Ledger != g.there[id] && !g.young(auto.At) {
			g.add(rubbish{Refs: []string{session.AutoOf(id)}}, id, "auto-save",
				fmt.Sprintf("backup of %s, %s", id, present.Ago(unix(auto.At), g.env.Now())))
		}
	}
	return nil
}

func (g *search) wasDeleted(id session.ID) bool {
	return slices.ContainsFunc(g.deleted, func(d deletedJSON) bool { return d.ID == id })
}

func (g *search) deletedSessions() error {
	left := map[session.ID]int{}
	for _, d := range g.deleted {
		left[d.ID]++
	}
	for _, d := range g.deleted {
		if g.young(d.DeletedAt) {
			continue
		}
		refs, err := g.Repo.RefsBelow(g.ctx, strings.TrimSuffix(d.Kept, "/"))
		if err != nil {
			return err
		}
		r := rubbish{Refs: sortedKeys(refs)}
		slices.SortStableFunc(r.Refs, func(x, y string) int { // the ledger last: until then it can be brought back
			return cmp.Compare(rankOf(x), rankOf(y))
		})
		if r.Objects, err = g.Repo.Weight(g.ctx, r.Refs); err != nil {
			return err
		}
		var dirs []registry.Litter
		if left[d.ID]--; g.there[d.ID] != "" {
			r.Kept = "the session exists again; if it was restored, wfs delete --restore " + string(d.ID) + " removes this"
		} else if left[d.ID] == 0 { // nothing of that name is left
			l, _, err := g.Clone.Session(d.ID).Litter()
			if err != nil {
				return err
			}
			if l.Path != "" {
				dirs = append(dirs, l)
			}
		}
		g.add(r, d.ID, "deleted", fmt.Sprintf("session %s, deleted %s", d.ID,
			present.Ago(unix(d.DeletedAt), g.env.Now())), dirs...)
	}
	return nil
}

func rankOf(ref string) int {
	if strings.HasSuffix(ref, "/ledger") {
		return 1
	}
	return 0
}

// leftOvers are directories of sessions and work trees that no longer exist.
func (g *search) leftOvers() error {
	known, err := g.Clone.Sessions()
	if err != nil {
		return err
	}
	for _, id := range known {
		if g.there[id] != "" || g.wasDeleted(id) {
			continue
		}
		l, events, err := g.Clone.Session(id).Litter()
		if err != nil {
			return err
		}
		r := rubbish{}
		if events {
			r.Kept = "its journal has events, but its history is missing: fetch it, or remove " + l.Path
		}
		if l.Newest.Before(g.before) {
			g.add(r, id, "left-over", "left over of session "+string(id), l)
		}
	}
	trees, err := g.Repo.Worktrees(g.ctx)
	if err != nil {
		return err
	}
	gone, err := g.Clone.WorktreeLitter(func(id string) (bool, error) {
		return id == g.Repo.Worktree() ||
			slices.ContainsFunc(trees, func(t worktree.Worktree) bool { return t.ID == id }), nil
	})
	for _, l := range gone {
		if l.Newest.Before(g.before) {
			g.add(rubbish{}, "", "left-over", "left over of work tree "+filepath.Base(l.Path), l)
		}
	}
	return err
}

func (a *app) sessionIDs(ctx context.Context) ([]session.ID, error) {
	all, err := a.Repo.Sessions(ctx)
	return slices.Sorted(maps.Keys(all)), err
}
