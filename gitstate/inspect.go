package gitstate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// BrokenRef is a ref of ours that leads nowhere.
type BrokenRef struct {
	Ref  string
	Err  error          // what is wrong
	File string         // the loose file that holds it, "" for none
	To   session.Commit // the commit that it names and that is not there, "" when it cannot be read
}

// ErrNoCommit says that a ref names a commit that is not there.
var ErrNoCommit = errors.New("it names a commit that is not there")

// OurRefs lists every ref of ours, and beside them those that are broken.
func (r *Repo) OurRefs(ctx context.Context) (refs map[string]session.Commit, broken []BrokenRef, err error) {
	refs = map[string]session.Commit{}
	for _, dir := range []string{branchPrefix, refsPrefix, opsPrefix, deletedPrefix} {
		dir = strings.TrimSuffix(dir, "/")
		some, err := r.refs(ctx, dir, func(string) bool { return true })
		if err != nil && !errors.Is(err, ErrBrokenRef) && !r.Git.ReadsDirectly() {
			return refs, broken, err
		}
		if err != nil {
			broken = append(broken, r.brokenBelow(ctx, dir)...)
		}
		for name, c := range some {
			refs[name] = c
		}
	}
	var names []string
	for name := range refs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if _, err := r.CommitInfo(ctx, refs[name]); err != nil {
			b := BrokenRef{Ref: name, Err: ErrNoCommit, To: refs[name]}
			if info, err := os.Lstat(r.refPath(name)); r.Git.ReadsDirectly() && err == nil && info.Mode().IsRegular() {
				b.File = r.refPath(name)
			}
			broken = append(broken, b)
			delete(refs, name)
		}
	}
	return refs, broken, nil
}

// brokenBelow looks at the files of refs below a directory.
func (r *Repo) brokenBelow(ctx context.Context, dir string) []BrokenRef {
	var broken []BrokenRef
	_ = filepath.WalkDir(filepath.Join(r.Git.CommonDir, filepath.FromSlash(dir)),
		func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
				return nil
			}
			rel, err := filepath.Rel(r.Git.CommonDir, path)
			if err != nil {
				return nil
			}
			name := filepath.ToSlash(rel)
			if _, err := r.Ref(ctx, name); err != nil {
				broken = append(broken, BrokenRef{Ref: name, Err: err, File: path})
			}
			return nil
		})
	return broken
}

// LoggedRefs returns where refs were at last that have a reflog and are not there: git removes the reflog of what it
// deletes.
func (r *Repo) LoggedRefs(ctx context.Context) map[string]session.Commit {
	gone := map[string]session.Commit{}
	if !r.Git.ReadsDirectly() {
		return gone
	}
	logs := filepath.Join(r.Git.CommonDir, "logs")
	_ = filepath.WalkDir(filepath.Join(logs, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(logs, path)
		if err != nil {
			return nil
		}
		name := filepath.ToSlash(rel)
		if c, err := r.Ref(ctx, name); err != nil || c != "" {
			return nil
		}
		if _, err := os.Lstat(r.refPath(name)); err == nil { // it names another ref, or something else is in its place
			return nil
		}
		if c := r.reflog(ctx, name); c != "" {
			gone[name] = c
		}
		return nil
	})
	return gone
}

// Formerly returns where a ref was at last, as its reflog says, or this work tree's operation log of a rescue. It is ""
// when neither does, or when that commit is not there.
func (r *Repo) Formerly(ctx context.Context, ref string) session.Commit {
	if c := r.reflog(ctx, ref); c != "" {
		return c
	}
	l, err := r.readOps(ctx, r.opsRef())
	for i, op := range l.ops {
		if err == nil && op.Turn.Rescue == ref && l.rescues[i] != "" {
			return l.rescues[i]
		}
	}
	return ""
}

func (r *Repo) reflog(ctx context.Context, ref string) session.Commit {
	data, err := durable.ReadFile(filepath.Join(r.Git.CommonDir, "logs", filepath.FromSlash(ref)), 64<<20)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	for _, line := range slices.Backward(lines) {
		fields := strings.Fields(line)
		if len(fields) < 2 || len(fields[1]) != r.Git.IDLength() || !gitcmd.IsHex(fields[1]) {
			continue // torn
		}
		if _, err := r.CommitInfo(ctx, session.Commit(fields[1])); err == nil {
			return session.Commit(fields[1])
		}
	}
	return ""
}

// NewestLedger returns the one of some ledger commits of a session that all others are ancestors of, "" when there is
// none: none is there, or they are two histories.
func (r *Repo) NewestLedger(ctx context.Context, id session.ID, commits []session.Commit) (session.Commit, error) {
	args := []string{"merge-base", "--independent"}
	for _, c := range commits {
		info, err := r.CommitInfo(ctx, c)
		if err != nil || !strings.Contains(info.Body, "Wfs-Session: "+id.Trailer()) {
			continue
		}
		if data, err := r.File(ctx, c, session.FileSession); err != nil || data == nil {
			continue
		}
		if lost, err := r.Lost(ctx, []string{string(c)}); err == nil && lost == "" {
			args = append(args, string(c))
		}
	}
	if len(args) == 2 {
		return "", nil
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, args...)
	newest := strings.Fields(string(out))
	if err != nil || len(newest) != 1 {
		return "", err
	}
	return session.Commit(newest[0]), nil
}

// Lost returns what git says of objects that refs of ours reach and that are not there, "" when all of them are. What
// other refs reach is not looked at.
func (r *Repo) Lost(ctx context.Context, refs []string) (string, error) {
	if len(refs) == 0 {
		return "", nil
	}
	args := append([]string{"rev-list", "--objects", "--quiet"}, refs...)
	args = append(args, "--not", "--exclude="+strings.TrimPrefix(branchPrefix, "refs/heads/")+"*", "--branches",
		"--tags", "--remotes")
	_, err := r.Git.Run(ctx, gitcmd.Opts{}, args...)
	var failed *gitcmd.GitError
	if errors.As(err, &failed) {
		return gitcmd.LastLine(failed.Stderr), nil
	}
	return "", err
}

// CopyOf returns the path of the work tree that this directory is a copy of, "" when it is none: git's entry says that
// the linked work tree is elsewhere, and there it is. Git would take both for one.
func (r *Repo) CopyOf() (string, error) {
	if r.Git.GitDir == r.Git.CommonDir {
		return "", nil
	}
	path, err := gitcmd.LinkedPath(r.Git.GitDir)
	if err != nil || path == "" || path == r.Git.Root || gone(path, r.Git.GitDir) {
		return "", err
	}
	there, err := os.Stat(path)
	if err != nil {
		return "", gitcmd.IgnoreAbsent(err)
	}
	here, err := os.Stat(r.Git.Root)
	if err != nil || os.SameFile(here, there) {
		return "", err
	}
	return path, nil
}
