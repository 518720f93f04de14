package cmd

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// autoSaveJSON is an auto-save that is newer than the newest checkpoint.
type autoSaveJSON struct {
	At      time.Time      `json:"at"`
	Commit  session.Commit `json:"commit"` // of the files
	Ref     string         `json:"ref"`
	Changes int            `json:"changes"`           // files that differ from the present checkpoint
	Missing int            `json:"missing,omitempty"` // of those, how many are not in the work tree now
}

// addAutoSave tells of a session's auto-save when it holds something that no checkpoint has; not while the session is
// driven: then it is about to be replaced. in is the work tree that has the session checked out, nil for none.
func (a *app) addAutoSave(ctx context.Context, d *sessionJSON, s *session.Session, tip session.Commit, in *gitstate.Worktree) {
	if s.Status.Final() {
		return
	}
	auto, err := a.Repo.Auto(ctx, s.ID)
	c := s.At(s.Current)
	if err != nil || auto == nil || auto.Ledger != tip || c == nil || auto.Tree == c.Tree {
		return
	}
	if _, held, err := a.Clone.Driver(s.ID); err != nil || held {
		return
	}
	j := &autoSaveJSON{At: unix(auto.At).UTC(), Commit: auto.Code, Ref: session.AutoOf(s.ID), Changes: auto.Changes}
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
		d.Next = append([]string{a.autoCommand("resume --backup", d)}, d.Next...)
	}
}

// autoCommand is a command for a session's auto-save, as it has to be typed here.
func (a *app) autoCommand(command string, d *sessionJSON) string {
	return a.typedFor("wfs "+command, d.ID, d.Worktree)
}

// sayAutoSave tells people of it.
func (a *app) sayAutoSave(d *sessionJSON) {
	j := d.AutoSave
	if j == nil {
		return
	}
	a.out("backup of %s: %d changed %s", ago(j.At, a.env.Now()), j.Changes, plural(j.Changes, "file", "files"))
	if j.Missing > 0 {
		a.out("  %d of them %s not in the work tree any more; to restore them: %s", j.Missing, plural(j.Missing, "is", "are"), a.autoCommand("resume --backup", d))
		return
	}
	a.out("  the work tree may be newer, and is what wfs run continues with; to see what was saved: %s", a.autoCommand("diff auto", d))
}
