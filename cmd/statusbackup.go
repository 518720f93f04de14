package cmd

import (
	"context"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/worktree"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/session"
)

// addAutoSave adds a session's automatic backup, if it has changes that no checkpoint has. It adds nothing during a
// run, because the run will soon replace the backup. `in` is the session's work tree, or nil.
func (a *statusVerb) addAutoSave(ctx context.Context, d *present.Session, s *session.Session, tip session.Commit,
	in *worktree.Worktree) {
	auto := a.newerAutoSave(ctx, s, tip)
	if auto == nil {
		return
	}
	j := present.NewAutoSave(s.ID, auto)
	if in != nil && !in.Gone {
		j.Missing = missingFrom(in.Path, auto.Changed)
	}
	d.AutoSave = &j
	if j.Missing > 0 && len(d.Alive) == 0 && (s.Status == session.StatusPaused ||
		s.Status == session.StatusInterrupted || outlived(s)) {
		d.Next = append([]string{a.typedFor("wfs resume --backup", d.ID, d.Worktree)}, d.Next...)
	}
}

// newerAutoSave returns a session's automatic backup, if it has changes that no checkpoint has and no process is
// working on the session. Otherwise it returns nil.
func (a *statusVerb) newerAutoSave(ctx context.Context, s *session.Session, tip session.Commit) *session.AutoSave {
	auto, err := a.Repo.Auto(ctx, s.ID)
	if s.Status.Final() || err != nil || auto == nil || auto.Ledger != tip {
		return nil
	}
	if c := s.At(s.Current); c == nil || auto.Tree == c.Tree {
		return nil
	}
	if _, held, err := a.Clone.Session(s.ID).Driver(); err != nil || held {
		return nil
	}
	return auto
}

// missingFrom counts the files of a backup that do not exist in the directory `dir`.
func missingFrom(dir string, changes []session.Change) (n int) {
	for _, c := range changes {
		if c.Status == "D" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(c.Path))); err != nil {
			n++
		}
	}
	return n
}
