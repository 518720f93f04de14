package gitstate

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

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// setHead puts HEAD on a branch, which is at a commit, durably. Git moves a symbolic ref without syncing it first: a
// power cut right then leaves an empty HEAD, and with that no repository at all. So its steps are made here: the lock,
// the reflog, the new file, renamed over the old one. Repositories of a new kind are left to git, and so is a HEAD that
// somebody has locked: it waits, and says what is wrong.
func (r *Repo) setHead(ctx context.Context, head session.Head, branch string, at session.Commit, why string) error {
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
	who, err := r.Git.Run(ctx, gitcmd.Opts{}, "var", "GIT_COMMITTER_IDENT") // with the time
	if err != nil {
		return byGit()
	}
	err = r.replaceLocked("HEAD", file, "ref: "+branch+"\n", func() error {
		defer durable.Hit(durable.HeadLogged)
		return r.logMove(ctx, "HEAD", fmt.Sprintf("%s %s %s\t%s\n", cmp.Or(string(head.Commit), r.zero()), at,
			strings.TrimSpace(string(who)), why))
	})
	if errors.Is(err, errLeftToGit) {
		return byGit()
	}
	return err
}

// logMove appends a line to the reflog of HEAD or of a branch, which is made where git would make it: if nobody
// configured otherwise.
func (r *Repo) logMove(ctx context.Context, ref, line string) error {
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

// logOf is the reflog of a ref.
func (r *Repo) logOf(ref string) string {
	dir := r.Git.CommonDir
	if ref == "HEAD" {
		dir = r.Git.GitDir
	}
	return filepath.Join(dir, "logs", filepath.FromSlash(ref))
}

// logsMoves reports whether git begins a reflog of HEAD or a branch where there is none.
func (r *Repo) logsMoves(ctx context.Context) (bool, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "config", "--get", "core.logAllRefUpdates")
	value := strings.ToLower(strings.TrimSpace(string(out)))
	if value == "" || value == "always" {
		return err == nil, err
	}
	logs, parsed := strconv.ParseBool(value)
	return logs || parsed != nil && (value == "yes" || value == "on"), err
}
