package refs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ErrMoved is the error for a ref that does not have its expected value: another process has moved it.
var ErrMoved = errors.New("moved by another process")

func orNothing(c session.Commit) string {
	if c == "" {
		return "nothing"
	}
	return c.Short()
}

// errLeftToGit means that wfs did not move the ref, and that git has to move it, or to report why it cannot.
var errLeftToGit = errors.New("left to git")

// SetHead durably moves HEAD to a branch, which is at commit `at`. Git moves a symbolic ref without syncing the new
// file first: after a power cut at that moment, HEAD is empty, and git no longer recognises the repository. So wfs
// takes the same steps as git itself, with a sync: lock, reflog, new file, rename over the old file. It runs git in
// repositories that do not store refs in files, and if HEAD is locked, because git waits for the lock and reports
// errors.
func (r *Writer) SetHead(ctx context.Context, head session.Head, branch string, at session.Commit, why string) error {
	file := filepath.Join(r.Git.GitDir, "HEAD")
	byGit := func() error {
		if _, err := r.Git.Run(ctx, gitcmd.Opts{Write: true}, "symbolic-ref", "-m", why, "HEAD", branch); err != nil {
			return err
		}
		return durable.SyncFile(file)
	}
	info, err := os.Lstat(file)
	if !r.Git.ReadsDirectly() || err != nil || !info.Mode().IsRegular() {
		return byGit()
	}
	who, err := r.Git.Ask(ctx, "var", "GIT_COMMITTER_IDENT") // the identity with the present time
	if err != nil {
		return byGit()
	}
	err = r.replaceLocked("HEAD", file, "ref: "+branch+"\n", func() error {
		defer durable.Hit(durable.HeadLogged)
		return r.logMove(ctx, "HEAD", fmt.Sprintf("%s %s %s\t%s\n", cmp.Or(string(head.Commit), r.Objects.Zero()), at,
			strings.TrimSpace(string(who)), why))
	})
	if errors.Is(err, errLeftToGit) {
		return byGit()
	}
	return err
}

// logMove appends a line to the reflog of HEAD or of a branch. If there is no reflog, logMove creates one only if git
// is configured to do so.
func (r *Writer) logMove(ctx context.Context, ref, line string) error {
	flags := os.O_WRONLY | os.O_APPEND
	file := r.logOf(ref)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		logs, err := r.logsMoves(ctx)
		if err != nil || !logs {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(file, flags, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// logOf returns the reflog file of a ref.
func (r *Writer) logOf(ref string) string {
	dir := r.Git.CommonDir
	if ref == "HEAD" {
		dir = r.Git.GitDir
	}
	return filepath.Join(dir, "logs", filepath.FromSlash(ref))
}

// logsMoves reports whether git would create missing reflogs of HEAD and branches.
func (r *Writer) logsMoves(ctx context.Context) (bool, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "config", "--get", "core.logAllRefUpdates")
	value := strings.ToLower(strings.TrimSpace(string(out)))
	if value == "" || value == "always" {
		return err == nil, err
	}
	logs, parsed := strconv.ParseBool(value)
	return logs || parsed != nil && (value == "yes" || value == "on"), err
}

// Move moves one ref durably. If the ref has its new value already, that is not an error. If it has neither the new nor
// the old value, the error wraps ErrMoved.
func (r *Writer) Move(ctx context.Context, m session.RefMove, why string) error {
	return r.moveBy(ctx, m, why)
}

// moveBy does the same as Move, with additional options for git update-ref.
func (r *Writer) moveBy(ctx context.Context, m session.RefMove, why string, options ...string) error {
	if err := r.moveOwnRef(ctx, m, why); !errors.Is(err, errLeftToGit) {
		if err == nil && m.Old == "" {
			err = r.SyncRef(m.Ref, true)
		}
		return err
	}
	old, line := string(m.Old), "delete "+m.Ref
	if old == "" {
		old = r.Objects.Zero()
	}
	if m.New != "" {
		line = "update " + m.Ref + " " + string(m.New)
	} else if m.Old == "" {
		return nil
	}
	args := append([]string{"update-ref"}, options...)
	if why != "" {
		args = append(args, "-m", why)
	}
	_, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Stdin: []byte(line + " " + old + "\n")},
		append(args, "--stdin")...)
	if err == nil {
		return r.SyncRef(m.Ref, m.Old == "" || m.New == "")
	}
	now, readErr := r.refs.Ref(ctx, m.Ref)
	switch {
	case readErr != nil:
		return errors.Join(err, readErr)
	case now == m.New:
		return r.SyncRef(m.Ref, m.Old == "" || m.New == "")
	case now != m.Old:
		return fmt.Errorf("%s is at %s: %w", m.Ref, orNothing(now), ErrMoved)
	}
	return err
}

// SyncRef syncs the directory of a ref, because git syncs only the file. If isNew is true, it also syncs the parent
// directories. It ignores directories that do not exist: those of deleted refs, and of refs that are not stored in
// files.
func (r *Writer) SyncRef(ref string, isNew bool) error {
	dir := filepath.FromSlash(ref)
	for first := true; dir != "refs" && dir != "." && (first || isNew); first = false {
		dir = filepath.Dir(dir)
		if err := durable.SyncDir(filepath.Join(r.Git.CommonDir, dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// movesWithoutGit reports whether wfs can make the move of a ref without a git process.
func (r *Writer) movesWithoutGit(m session.RefMove) bool {
	switch {
	case m.New == "", !r.Git.ReadsDirectly():
		return false
	case strings.HasPrefix(m.Ref, BranchPrefix):
		if m.Old == "" {
			return false
		}
	case !strings.HasPrefix(m.Ref, RefsPrefix) && !strings.HasPrefix(m.Ref, OpsPrefix), gitcmd.IsThere(r.logOf(m.Ref)):
		return false
	}
	// In a repository that a group shares, new files and directories need modes that only git knows.
	info, err := os.Stat(filepath.Join(r.Git.CommonDir, "HEAD"))
	return err == nil && (info.Mode()&0o020 == 0 || gitcmd.IsThere(r.refs.refPath(m.Ref)))
}

// reflogLine returns the line that a move adds to reflogs, and the refs whose reflogs get the line: the branch, and
// HEAD if HEAD is on that branch. Refs that only wfs uses have no reflog.
func (r *Writer) reflogLine(ctx context.Context, m session.RefMove, why string) (line string, logs []string,
	err error) {
	if !strings.HasPrefix(m.Ref, BranchPrefix) {
		return "", nil, nil
	}
	ident, err := r.Git.Answers.Identity(ctx)
	if err != nil {
		return "", nil, err
	}
	head, err := r.refs.Head(ctx)
	if logs = []string{m.Ref}; head.Ref == m.Ref {
		logs = append(logs, "HEAD")
	}
	seconds := r.Git.FileTime() / uint64(time.Second)
	return fmt.Sprintf("%s %s %s %d +0000\t%s\n", m.Old, m.New, ident, seconds, why), logs, err
}

// moveOwnRef moves a ref that only wfs uses, or an existing branch of a session, without a git process. If the ref is
// locked, does not have the move's old value, or is not stored in a file, moveOwnRef changes nothing and returns
// errLeftToGit.
func (r *Writer) moveOwnRef(ctx context.Context, m session.RefMove, why string) error {
	if !r.movesWithoutGit(m) {
		return errLeftToGit
	}
	line, logs, err := r.reflogLine(ctx, m, why)
	if err != nil {
		return errLeftToGit
	}
	file := r.refs.refPath(m.Ref)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return errLeftToGit
	}
	return r.replaceLocked(m.Ref, file, string(m.New)+"\n", func() error {
		next, now, err := r.refs.ReadRef(m.Ref)
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

// replaceLocked replaces the file of a ref or of HEAD as git does: it takes git's lock, writes and syncs the new text,
// and renames it over the old file, whose mode it keeps. It calls check while it holds the lock, before the rename. If
// it cannot create the lock, it returns errLeftToGit.
func (r *Writer) replaceLocked(ref, file, text string, check func() error) error {
	done, err := r.Git.Locks.NoteLocks([]string{ref})
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

// PutBack moves a ref to a commit, whatever commit the ref has now. It returns false if the commit no longer exists.
func (r *Writer) PutBack(ctx context.Context, ref string, to session.Commit) (bool, error) {
	if there, err := r.Objects.Exists(ctx, to); err != nil || !there {
		return false, err
	}
	now, err := r.refs.Ref(ctx, ref)
	if err != nil {
		return false, err
	}
	return true, r.Move(ctx, session.RefMove{Ref: ref, Old: now, New: to}, "wfs: put back")
}
