package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Replant gives a ref that is broken or gone a commit, durably, or takes one away that nothing is known of. The
// file of a broken one is kept in a directory, and its new name returned: below refs it would go on to be a
// broken ref. Git refuses to move what it cannot read, so a broken file is replaced by a good one here, in one
// step.
func (r *Repo) Replant(ctx context.Context, b BrokenRef, to session.Commit, asideDir string) (kept string, err error) {
	if b.File == "" {
		if err := r.moveRef(ctx, session.RefMove{Ref: b.Ref, New: to}, "wfs: doctor"); err != nil {
			return "", err
		}
	} else if kept, err = r.replaceRef(b, to, asideDir); err != nil {
		return kept, err
	}
	durable.Hit(durable.RefReplanted)
	return kept, nil
}

func (r *Repo) replaceRef(b BrokenRef, to session.Commit, dir string) (kept string, err error) {
	if err := durable.MkdirAll(dir); err != nil {
		return "", err
	}
	info, err := os.Lstat(b.File)
	if err != nil {
		return "", err
	}
	name, mode, keep := filepath.Join(dir,
		strings.ReplaceAll(strings.TrimPrefix(b.Ref, "refs/"), "/", "_")), info.Mode(), os.Link
	if to == "" || !mode.IsRegular() {
		mode, keep = 0o644, os.Rename
	}
	if gitcmd.IsThere(name) { // a killed repair left it
		if _, err := durable.MoveAside(name); err != nil {
			return "", err
		}
	}
	if keep(b.File, name) != nil { // no hard links here
		if err := os.Rename(b.File, name); err != nil {
			return "", err
		}
	}
	durable.Hit(durable.RefAway)
	if kept, err = durable.MoveAside(name); err != nil {
		return "", err
	}
	if to == "" {
		return kept, durable.SyncDir(filepath.Dir(b.File))
	}
	// not beside the ref, where it would be another broken one
	good := filepath.Join(dir, durable.TempPrefix+filepath.Base(name))
	if err := durable.WriteFile(good, []byte(to+"\n"), mode.Perm()); err != nil {
		return kept, err
	}
	if err := os.Rename(good, b.File); err != nil {
		return kept, err
	}
	return kept, durable.SyncDir(filepath.Dir(b.File))
}
