package gitstate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Replant gives a ref that is broken or gone a commit, durably, or takes one away that nothing is known of. The file of a
// broken one is kept in a directory, and its new name returned: below refs it would go on to be a broken ref.
func (r *Repo) Replant(ctx context.Context, b BrokenRef, to session.Commit, asideDir string) (kept string, err error) {
	whole := false // the ref has its commit
	if b.File != "" {
		if kept, whole, err = r.setAside(b, to, asideDir); err != nil {
			return kept, err
		}
	}
	if to == "" {
		return kept, nil
	}
	if !whole {
		now, err := r.Ref(ctx, b.Ref) // what was broken may have hidden a packed value
		if err != nil {
			return kept, err
		}
		if err := r.moveRef(ctx, session.RefMove{Ref: b.Ref, Old: now, New: to}, "wfs: doctor"); err != nil {
			return kept, err
		}
	}
	durable.Hit(durable.RefReplanted)
	return kept, nil
}

// setAside takes the file of a broken ref out of the way. If it can, it replaces it by a good one in the same step: with
// the ledger gone in between there would be no session, and nobody would bring it back.
func (r *Repo) setAside(b BrokenRef, to session.Commit, dir string) (kept string, whole bool, err error) {
	if err := durable.MkdirAll(dir); err != nil {
		return "", false, err
	}
	name := filepath.Join(dir, strings.ReplaceAll(strings.TrimPrefix(b.Ref, "refs/"), "/", "_"))
	if _, err := os.Lstat(name); err == nil { // a killed repair left it
		if _, err := durable.MoveAside(name); err != nil {
			return "", false, err
		}
	}
	info, err := os.Lstat(b.File)
	if err == nil && to != "" && info.Mode().IsRegular() && os.Link(b.File, name) == nil {
		durable.Hit(durable.RefAway)
		if kept, err = durable.MoveAside(name); err != nil {
			return "", false, err
		}
		return kept, true, r.overwriteRef(b, to)
	}
	if err := os.Rename(b.File, name); err != nil {
		return "", false, err
	}
	if kept, err = durable.MoveAside(name); err != nil {
		return "", false, err
	}
	return kept, false, durable.SyncDir(filepath.Dir(b.File))
}

// overwriteRef makes a broken ref's file a good one, in git's own steps: git refuses to move what it cannot read.
func (r *Repo) overwriteRef(b BrokenRef, to session.Commit) error {
	done, err := r.noteLocks([]string{b.Ref})
	if err != nil {
		return err
	}
	lock := b.File + ".lock"
	f, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		theirs := ""
		if errors.Is(err, fs.ErrExist) {
			theirs = lock
		}
		done(theirs)
		return err
	}
	defer done("")
	_, err = f.WriteString(string(to) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(lock, b.File)
	}
	if err != nil {
		return errors.Join(err, os.Remove(lock))
	}
	return durable.SyncDir(filepath.Dir(b.File))
}
