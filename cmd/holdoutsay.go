package cmd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// holdoutLogs is the directory on this machine with what hold-out tests printed, "" when there is none. Whoever
// works is not told.
func (a *app) holdoutLogs(r *session.HoldoutResult) string {
	if r == nil || r.Run == "" || a.env.Get("WFS_RUN_ID") != "" {
		return ""
	}
	dir, err := a.holdoutDir(r.Digest)
	if err != nil {
		return ""
	}
	if dir = filepath.Join(dir, holdoutRuns, filepath.Base(r.Run)); !isDir(dir) {
		return ""
	}
	return dir
}

// sayHoldoutDrift says that hold-out tests are others now, where they were taken from.
func (a *app) sayHoldoutDrift(ctx context.Context, id session.ID, p *workflows.Plan) {
	if p.Holdout == nil {
		return
	}
	dir, err := a.holdoutDir(p.Holdout.Digest)
	if err != nil {
		return
	}
	var from holdoutSource
	data, err := durable.ReadFile(filepath.Join(dir, holdoutFrom), 1<<16)
	if err != nil || json.Unmarshal(data, &from) != nil || from.String() == "" {
		return
	}
	t, err := a.readHoldout(ctx, from.String())
	switch {
	case err != nil:
		a.note("the hold-out tests are no longer where they were taken from; the copy of then counts")
	case from.Commit != "" && t.from.Commit == from.Commit: // the common ancestor may be another one now
	case t.pack.Digest() != p.Holdout.Digest:
		a.note("the hold-out tests have changed where they were taken from, and the copy of then counts; to take them as they are now: %s",
			a.typedFor("wfs edit --holdout "+shellWord(from.String()), id, ""))
	}
}

// holdouts finds copies of hold-out tests that no session of this repository or of another one needs.
func (g *search) holdouts() error {
	state, err := g.env.StateDir()
	if err != nil {
		return nil //nolint:nilerr // there is no place for them
	}
	entries, _ := os.ReadDir(filepath.Join(state, "holdout"))
	for _, e := range entries {
		path := filepath.Join(state, "holdout", e.Name())
		info, err := os.Stat(filepath.Join(path, holdoutFor))
		if err != nil || !info.ModTime().Before(g.before) {
			continue
		}
		wanted := slices.ContainsFunc(g.holdoutOwners(path), func(owner string) bool {
			repo, id, _ := strings.Cut(owner, "\t")
			if repo != g.Repo.CommonDir() {
				_, err := os.Lstat(repo)
				return err == nil
			}
			return g.there[session.ID(id)] != "" || g.wasDeleted(session.ID(id))
		})
		if !wanted {
			g.addOutside("copy of hold-out tests", path)
		}
	}
	return nil
}
