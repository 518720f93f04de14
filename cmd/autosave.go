package cmd

import (
	"context"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/session"
)

// addAutoSave tells of a session's auto-save when it holds something that no checkpoint has; not while the session is
// driven: then it is about to be replaced. in is the work tree that has the session checked out, nil for none.
func (a *app) addAutoSave(ctx context.Context, d *present.Session, s *session.Session, tip session.Commit,
	in *worktree.Worktree) {
	if s.Status.Final() {
		return
	}
	auto, err := a.Repo.Auto(ctx, s.ID)
	c := s.At(s.Current)
	if err != nil || auto == nil || auto.Ledger != tip || c == nil || auto.Tree == c.Tree {
		return
	}
	if _, held, err := a.Clone.Session(s.ID).Driver(); err != nil || held {
		return
	}
	j := &present.AutoSave{At: unix(auto.At).UTC(), Commit: auto.Code, Ref: session.AutoOf(s.ID), Changes: auto.Changes}
	for _, c := range auto.Changed {
		if c.Status == "D" || in == nil || in.Gone {
			continue
		}
		if _, err := os.Lstat(filepath.Join(in.Path, filepath.FromSlash(c.Path))); err != nil {
			j.Missing++
		}
	}
	d.AutoSave = j
	if j.Missing > 0 && (s.Status == session.StatusInterrupted || s.Status == session.StatusPaused) {
		d.Next = append([]string{a.typedFor("wfs resume --backup", d.ID, d.Worktree)}, d.Next...)
	}
}
