// Package rubbish finds and removes data that a repository no longer needs: logs of runs, backups, deleted sessions,
// and remains of sessions and work trees that no longer exist.
package rubbish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/worktree"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/holdout"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
	"github.com/wfs-dev/wfs/workspace/rooms"
)

// Item is one thing that `wfs gc` can remove, or an old one that it keeps for a reason.
type Item struct {
	Kind    string     `json:"kind"` // logs, rescue, auto-save, deleted, left-over
	Session session.ID `json:"session,omitempty"`
	What    string     `json:"what"`            // description for people
	Bytes   int64      `json:"bytes"`           // size of the files in bytes
	Objects int64      `json:"objects"`         // size of the objects in bytes that git can free later
	Refs    []string   `json:"refs,omitempty"`  // refs to remove
	Paths   []string   `json:"paths,omitempty"` // directories to remove
	Kept    string     `json:"kept,omitempty"`  // reason to keep it, "" if it can be removed

	outside bool // the paths are not in the directory .git/wfs of this clone
}

// Search finds everything that was not used since a time, and that can be removed.
type Search struct {
	*workspace.Workspace
	Rooms    *rooms.Rooms
	Holdouts holdout.Store // "" if there is no state directory
	Before   time.Time
	Ago      func(time.Time) string

	sessions map[session.ID]session.Commit
	deleted  []workspace.Deleted
	held     map[session.ID]string // by session, why it cannot be locked; "" if it is locked
	found    []Item
}

// Find returns the items that can be removed, and old items that must be kept.
func (g *Search) Find(ctx context.Context) (list []Item, err error) {
	g.held = map[session.ID]string{"": ""}
	if g.sessions, err = g.Repo.Sessions(ctx); err != nil {
		return nil, err
	}
	if g.deleted, err = g.Deletions(ctx); err != nil {
		return nil, err
	}
	for _, find := range []func(context.Context) error{g.runs, g.rescues, g.autoSaves, g.deletedSessions, g.leftOvers,
		g.workTrees} {
		if err := find(ctx); err != nil {
			return nil, err
		}
	}
	for _, path := range g.Rooms.Unused(g.Before) {
		g.addOutside("clean tree for gates", path)
	}
	for _, path := range g.Holdouts.Unused(g.Before, g.owns) {
		g.addOutside("copy of hold-out tests", path)
	}
	return g.found, nil
}

// owns reports whether a copy of hold-out tests is still needed: by a session of this repository, or by another
// repository that still exists. `owner` names the repository and the session.
func (g *Search) owns(owner string) bool {
	repo, id, _ := strings.Cut(owner, "\t")
	if repo != g.Repo.CommonDir() {
		_, err := os.Lstat(repo)
		return err == nil
	}
	return g.sessions[session.ID(id)] != "" || g.wasDeleted(session.ID(id))
}

func (g *Search) young(seconds int64) bool { return !time.Unix(seconds, 0).Before(g.Before) }

// add adds an item with directories to remove. `id` is the session that it belongs to, "" for none.
func (g *Search) add(r Item, id session.ID, kind, what string, dirs ...registry.Litter) {
	r.Kind, r.Session, r.What = kind, id, what
	for _, l := range dirs {
		r.Bytes += l.Bytes
		r.Paths = append(r.Paths, l.Path)
	}
	g.found = append(g.found, r)
}

func (g *Search) addOutside(what, path string) {
	g.add(Item{outside: true}, "", "left-over", what, registry.Litter{Path: path, Bytes: rooms.Size(path)})
}

func (g *Search) runs(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(g.sessions)) {
		v, err := g.View(ctx, id)
		if err != nil {
			continue // a session that cannot be read may need repair by a person, so all its files are kept
		}
		keep := []string{"baseline", v.Session.LastRun, v.Session.Started}
		if v.Session.Status.Final() {
			keep = nil
		}
		runs, err := g.Clone.Session(id).OldRuns(g.Before, keep...)
		if err != nil {
			return err
		}
		if len(runs) > 0 {
			g.add(Item{}, id, "logs", fmt.Sprintf("logs of %s of %s", number(len(runs), "run"), id),
				runs...)
		}
	}
	return nil
}

// autoSaves finds old auto-saves that are stale: their session has a newer checkpoint or another newer turn.
func (g *Search) autoSaves(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(g.sessions)) {
		auto, err := g.Repo.Auto(ctx, id)
		if err != nil {
			return err
		}
		if auto != nil && auto.Ledger != g.sessions[id] && !g.young(auto.At) {
			g.add(Item{Refs: []string{session.AutoOf(id)}}, id, "auto-save",
				fmt.Sprintf("backup of %s, %s", id, g.Ago(time.Unix(auto.At, 0))))
		}
	}
	return nil
}

func (g *Search) wasDeleted(id session.ID) bool {
	return slices.ContainsFunc(g.deleted, func(d workspace.Deleted) bool { return d.ID == id })
}

func (g *Search) deletedSessions(ctx context.Context) error {
	left := map[session.ID]int{}
	for _, d := range g.deleted {
		left[d.ID]++
	}
	for _, d := range g.deleted {
		if g.young(d.DeletedAt) {
			continue
		}
		refs, err := g.Repo.RefsBelow(ctx, strings.TrimSuffix(d.Kept, "/"))
		if err != nil {
			return err
		}
		r := Item{Refs: slices.Sorted(maps.Keys(refs))}
		// remove the ledger last: as long as it exists, the session can be restored
		slices.SortStableFunc(r.Refs, func(x, y string) int {
			return cmp.Compare(rankOf(x), rankOf(y))
		})
		if r.Objects, err = g.Repo.Weight(ctx, r.Refs); err != nil {
			return err
		}
		var dirs []registry.Litter
		if left[d.ID]--; g.sessions[d.ID] != "" {
			r.Kept = "the session exists again; if it was restored, wfs delete --restore " + string(d.ID) + " removes this"
		} else if left[d.ID] == 0 { // this was the last deletion of a session of that name
			l, _, err := g.Clone.Session(d.ID).Litter()
			if err != nil {
				return err
			}
			if l.Path != "" {
				dirs = append(dirs, l)
			}
		}
		with := ""
		if slices.ContainsFunc(r.Refs, func(ref string) bool { return strings.HasPrefix(ref, d.Kept+"rescue/") }) {
			with = " and its backups of uncommitted changes"
		}
		g.add(r, d.ID, "deleted", fmt.Sprintf("session %s%s, deleted %s", d.ID, with,
			g.Ago(time.Unix(d.DeletedAt, 0))), dirs...)
	}
	return nil
}

func rankOf(ref string) int {
	if strings.HasSuffix(ref, "/ledger") {
		return 1
	}
	return 0
}

// leftOvers finds old directories in .git/wfs of sessions that no longer exist.
func (g *Search) leftOvers(ctx context.Context) error {
	known, err := g.Clone.Sessions()
	if err != nil {
		return err
	}
	for _, id := range known {
		if g.sessions[id] != "" || g.wasDeleted(id) {
			continue
		}
		l, events, err := g.Clone.Session(id).Litter()
		if err != nil {
			return err
		}
		r := Item{}
		if events {
			r.Kept = "its journal has events, but its history is missing: fetch it, or remove " + l.Path
		}
		if l.Newest.Before(g.Before) {
			g.add(r, id, "left-over", "left over of session "+string(id), l)
		}
	}
	return nil
}

// workTrees finds old directories in .git/wfs of work trees that no longer exist.
func (g *Search) workTrees(ctx context.Context) error {
	trees, err := g.Repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	gone, err := g.Clone.WorktreeLitter(func(id string) (bool, error) {
		return id == g.Repo.Worktree() ||
			slices.ContainsFunc(trees, func(t worktree.Worktree) bool { return t.ID == id }), nil
	})
	for _, l := range gone {
		if l.Newest.Before(g.Before) {
			g.add(Item{}, "", "left-over", "left over of work tree "+filepath.Base(l.Path), l)
		}
	}
	return err
}

func number(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Remove removes one item. If it must be kept, Remove returns the reason, otherwise "".
func (g *Search) Remove(ctx context.Context, r Item) (kept string, err error) {
	why, asked := g.held[r.Session]
	if !asked {
		err := g.Hold("wfs gc", r.Session)
		switch {
		case errors.Is(err, durable.ErrLocked):
			why = "another process is using it"
		case err != nil:
			return "", err
		}
		g.held[r.Session] = why
	}
	if why != "" {
		return why, nil
	}
	var moves []session.RefMove
	for _, name := range r.Refs {
		tip, err := g.Repo.Ref(ctx, name)
		if err != nil {
			return "", err
		}
		moves = append(moves, session.RefMove{Ref: name, Old: tip})
	}
	if _, err := g.Repo.Settle(ctx, r.Session, session.Turn{Refs: moves}); err != nil {
		return "", err
	}
	for _, path := range r.Paths {
		remove := func() error { return g.Clone.Remove(registry.Litter{Path: path}) }
		if r.outside {
			remove = func() error { return g.Rooms.Remove(path) }
		}
		if err := remove(); err != nil {
			return "", err
		}
	}
	return "", nil
}
