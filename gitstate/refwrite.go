package gitstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// errLeftToGit says that git has to move a ref, or to say why it cannot be moved.
var errLeftToGit = errors.New("left to git")

// moveOwnRef moves a ref that only wfs uses, or a session's branch that is there, without starting a git
// process. It returns errLeftToGit, and has changed nothing, if the ref is locked, is not where the move
// begins, or is kept in another way.
func (r *Repo) moveOwnRef(ctx context.Context, m session.RefMove, why string) error {
	own := strings.HasPrefix(m.Ref, refsPrefix) || strings.HasPrefix(m.Ref, opsPrefix)
	branch := strings.HasPrefix(m.Ref, branchPrefix) && m.Old != ""
	if !own && !branch || m.New == "" || !r.Git.ReadsDirectly() || own && gitcmd.IsThere(r.logOf(m.Ref)) {
		return errLeftToGit
	}
	line := ""
	var logs []string
	if branch { // the others have no reflog
		ident, err := r.Git.Identity(ctx)
		head, err2 := r.Head(ctx)
		if err != nil || err2 != nil {
			return errLeftToGit
		}
		line = fmt.Sprintf("%s %s %s %d +0000\t%s\n", m.Old, m.New, ident, r.Git.FileTime()/uint64(time.Second), why)
		if logs = []string{m.Ref}; head.Ref == m.Ref {
			logs = append(logs, "HEAD")
		}
	}
	file := r.refPath(m.Ref)
	if info, err := os.Stat(filepath.Join(r.Git.CommonDir, "HEAD")); err != nil || info.Mode()&0o020 != 0 && !gitcmd.IsThere(file) {
		return errLeftToGit // a group may share the repository: git knows the modes of new files and directories
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return errLeftToGit
	}
	return r.replaceLocked(m.Ref, file, string(m.New)+"\n", func() error {
		next, now, err := r.readRef(m.Ref)
		if err != nil || next != "" || now != m.Old {
			return errLeftToGit
		}
		for _, ref := range logs {
			if err := r.logMove(ctx, ref, line); err != nil {
				return err
			}
		}
		return nil
	})
}

// replaceLocked replaces the file of a ref or of HEAD as git does: it takes git's lock, writes the new text to
// the disk, and renames it over the file, whose mode stays. check is called with the lock held, before the
// rename. The result is errLeftToGit when the lock is taken.
func (r *Repo) replaceLocked(ref, file, text string, check func() error) error {
	done, err := r.Git.NoteLocks([]string{ref})
	if err != nil {
		return err
	}
	lock := file + ".lock"
	f, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		done(lock)
		return errLeftToGit
	}
	defer done("")
	_, err = f.WriteString(text)
	if info, there := os.Stat(file); there == nil {
		err = errors.Join(err, f.Chmod(info.Mode().Perm()))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		durable.Hit(durable.RefLocked)
		err = check()
	}
	if err == nil {
		err = os.Rename(lock, file)
	}
	if err != nil {
		if left := os.Remove(lock); left != nil {
			return errors.Join(err, left)
		}
		return err
	}
	durable.Hit(durable.RefMoved)
	return durable.SyncDir(filepath.Dir(file))
}
