package refs

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

// BrokenRef is a ref of wfs that cannot be read or that names a missing commit.
type BrokenRef struct {
	Ref  string
	Err  error          // why the ref is broken
	File string         // its loose file, "" if it has none
	To   session.Commit // the missing commit, "" if the ref cannot be read
}

// errNoCommit is the Err of a BrokenRef that names a missing commit.
var errNoCommit = errors.New("it names a commit that is not there")

// OurRefs returns the commits of all refs of wfs by name. It returns the broken ones of these refs separately.
func (r *Inspection) OurRefs(ctx context.Context) (refs map[string]session.Commit, broken []BrokenRef, err error) {
	refs = map[string]session.Commit{}
	for _, dir := range []string{BranchPrefix, RefsPrefix, OpsPrefix, DeletedPrefix} {
		dir = strings.TrimSuffix(dir, "/")
		some, err := r.refs.RefsBelow(ctx, dir)
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
		if _, err := r.Objects.CommitInfo(ctx, refs[name]); err != nil {
			b := BrokenRef{Ref: name, Err: errNoCommit, To: refs[name]}
			if info, err := os.Lstat(r.refs.refPath(name)); r.Git.ReadsDirectly() && err == nil && info.Mode().IsRegular() {
				b.File = r.refs.refPath(name)
			}
			broken = append(broken, b)
			delete(refs, name)
		}
	}
	return refs, broken, nil
}

// brokenBelow returns the refs below a directory that have loose files and cannot be read.
func (r *Inspection) brokenBelow(ctx context.Context, dir string) []BrokenRef {
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
			if _, err := r.refs.Ref(ctx, name); err != nil {
				broken = append(broken, BrokenRef{Ref: name, Err: err, File: path})
			}
			return nil
		})
	return broken
}

// LoggedRefs returns the last commits of refs that no longer exist but still have a reflog. These refs were lost: when
// git deletes a ref, it also removes the reflog.
func (r *Inspection) LoggedRefs(ctx context.Context) map[string]session.Commit {
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
		if c, err := r.refs.Ref(ctx, name); err != nil || c != "" {
			return nil
		}
		// the ref names another ref, or something else than a file is in its place
		if _, err := os.Lstat(r.refs.refPath(name)); err == nil {
			return nil
		}
		if c := r.reflog(ctx, name); c != "" {
			gone[name] = c
		}
		return nil
	})
	return gone
}

// Formerly returns the last commit that a ref had, from the ref's reflog or, for a rescue, from this work tree's
// operation log. It returns "" if neither has one, or if that commit is missing.
func (r *Inspection) Formerly(ctx context.Context, ref string) session.Commit {
	if c := r.reflog(ctx, ref); c != "" {
		return c
	}
	l, err := r.refs.readOps(ctx, r.refs.OpsRef())
	for i, op := range l.Ops {
		if err == nil && op.Turn.Rescue == ref && l.Rescues[i] != "" {
			return l.Rescues[i]
		}
	}
	return ""
}

// reflog returns the newest commit in a ref's reflog that still exists, "" if there is none.
func (r *Inspection) reflog(ctx context.Context, ref string) session.Commit {
	data, err := durable.ReadFile(filepath.Join(r.Git.CommonDir, "logs", filepath.FromSlash(ref)), 64<<20)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	for _, line := range slices.Backward(lines) {
		fields := strings.Fields(line)
		if len(fields) < 2 || len(fields[1]) != r.Objects.IDLength() || !gitcmd.IsHex(fields[1]) {
			continue // incomplete line
		}
		if _, err := r.Objects.CommitInfo(ctx, session.Commit(fields[1])); err == nil {
			return session.Commit(fields[1])
		}
	}
	return ""
}

// NewestLedger returns the newest of some ledger commits of a session: the one of which all others are ancestors. It
// returns "" if none of the commits exists with all its objects, or if they belong to more than one history.
func (r *Inspection) NewestLedger(ctx context.Context, id session.ID, commits []session.Commit) (session.Commit,
	error) {
	args := []string{"merge-base", "--independent"}
	for _, c := range commits {
		info, err := r.Objects.CommitInfo(ctx, c)
		if err != nil || !strings.Contains(info.Body, "Wfs-Session: "+id.Trailer()) {
			continue
		}
		if data, err := r.Objects.File(ctx, c, session.FileSession); err != nil || data == nil {
			continue
		}
		if lost, err := r.Lost(ctx, []string{string(c)}); err == nil && lost == "" {
			args = append(args, string(c))
		}
	}
	if len(args) == 2 {
		return "", nil
	}
	out, err := r.Git.Ask(ctx, args...)
	newest := strings.Fields(string(out))
	if err != nil || len(newest) != 1 {
		return "", err
	}
	return session.Commit(newest[0]), nil
}

// Lost returns git's error message about an object that some refs of wfs reach and that is missing, "" if none is
// missing. It does not check objects that branches of the user, tags or remote-tracking branches reach.
func (r *Inspection) Lost(ctx context.Context, refs []string) (string, error) {
	if len(refs) == 0 {
		return "", nil
	}
	args := append([]string{"rev-list", "--objects", "--quiet"}, refs...)
	args = append(args, "--not", "--exclude="+strings.TrimPrefix(BranchPrefix, "refs/heads/")+"*", "--branches",
		"--tags", "--remotes")
	_, err := r.Git.Ask(ctx, args...)
	if failed := gitcmd.Failed(err); failed != nil {
		return gitcmd.LastLine(failed.Stderr), nil
	}
	return "", err
}

// DropEmpty removes empty directories in which refs of wfs were. If git is killed after it has removed the last ref in
// a directory, the directory stays forever. A process that creates a ref there at the same time creates the directory
// again.
func (r *Inspection) DropEmpty() {
	for _, name := range []string{BranchPrefix, RefsPrefix, OpsPrefix, DeletedPrefix} {
		dir := filepath.Join(r.Git.CommonDir, filepath.FromSlash(strings.TrimSuffix(name, "/")))
		// do not follow a symbolic link, which may point anywhere
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && r.Git.ReadsDirectly() {
			dropEmpty(dir)
		}
	}
}

func dropEmpty(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			dropEmpty(filepath.Join(dir, e.Name()))
		}
	}
	_ = os.Remove(dir) // fails if it is not empty
}

// Replant durably sets a broken or lost ref to a commit; if `to` is "", it removes the ref. The old file of a broken
// ref is moved to asideDir, because below refs/ it would still be a broken ref; kept is its new path. Git refuses to
// move a ref that it cannot read, so Replant itself replaces the file, in one step.
func (r *Inspection) Replant(ctx context.Context, b BrokenRef, to session.Commit, asideDir string) (kept string,
	err error) {
	if b.File == "" {
		if err := r.refs.Move(ctx, session.RefMove{Ref: b.Ref, New: to}, "wfs: doctor"); err != nil {
			return "", err
		}
	} else if kept, err = r.replaceRef(b, to, asideDir); err != nil {
		return kept, err
	}
	durable.Hit(durable.RefReplanted)
	return kept, nil
}

func (r *Inspection) replaceRef(b BrokenRef, to session.Commit, dir string) (kept string, err error) {
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
	if gitcmd.IsThere(name) { // left by a killed repair
		if _, err := durable.MoveAside(name); err != nil {
			return "", err
		}
	}
	if keep(b.File, name) != nil { // the file system has no hard links
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
	// in asideDir: in the directory of the ref, a leftover of this file would be another broken ref
	good := filepath.Join(dir, durable.TempPrefix+filepath.Base(name))
	if err := durable.WriteFile(good, []byte(to+"\n"), mode.Perm()); err != nil {
		return kept, err
	}
	if err := os.Rename(good, b.File); err != nil {
		return kept, err
	}
	return kept, durable.SyncDir(filepath.Dir(b.File))
}
