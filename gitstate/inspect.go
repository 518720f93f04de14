package gitstate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
		if err != nil && !errors.Is(err, ErrBrokenRef) && !r.readsDirectly() {
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
			if info, err := os.Lstat(r.refPath(name)); r.readsDirectly() && err == nil && info.Mode().IsRegular() {
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
	_ = filepath.WalkDir(filepath.Join(r.commonDir, filepath.FromSlash(dir)), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return nil
		}
		rel, err := filepath.Rel(r.commonDir, path)
		if err != nil {
			return nil
		}
		name := filepath.ToSlash(rel)
		var o Obstacle
		if _, err := r.Ref(ctx, name); errors.As(err, &o) && o.Ref != name {
			return nil // in the way of this one too
		} else if err != nil {
			broken = append(broken, BrokenRef{Ref: name, Err: err, File: path})
		}
		return nil
	})
	return broken
}

// InPlaceOf says what is where the file of a ref belongs, and where that is: "a directory", "a link that leads nowhere".
// It is empty when there is a file, or nothing.
func (r *Repo) InPlaceOf(ref string) (what, path string) {
	path = r.refPath(ref)
	info, err := os.Lstat(path)
	switch {
	case err != nil || !r.readsDirectly():
		return "", ""
	case info.IsDir():
		return "a directory", path
	case info.Mode()&fs.ModeSymlink != 0:
		if _, err := os.Stat(path); err == nil {
			return "", "" // or the ref is damaged
		}
		return "a link that leads nowhere", path
	}
	return "", ""
}

// ReadsDirectly reports whether refs are files that are read without git.
func (r *Repo) ReadsDirectly() bool { return r.readsDirectly() }

// SetPackedAside takes away what is in the place of packed-refs, and keeps it in a directory. It returns its new name.
func (r *Repo) SetPackedAside(dir string) (kept string, err error) {
	kept, _, err = r.setAside(BrokenRef{Ref: "refs/packed-refs", File: filepath.Join(r.commonDir, "packed-refs")}, "", dir)
	return kept, err
}

// LoggedRefs returns where refs were at last that have a reflog and are not there: git removes the reflog of what it
// deletes.
func (r *Repo) LoggedRefs(ctx context.Context) map[string]session.Commit {
	gone := map[string]session.Commit{}
	if !r.readsDirectly() {
		return gone
	}
	logs := filepath.Join(r.commonDir, "logs")
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
		if what, _ := r.InPlaceOf(name); what != "" || r.symbolic(name) {
			return nil
		}
		if c := r.Reflog(ctx, name); c != "" {
			gone[name] = c
		}
		return nil
	})
	return gone
}

// symbolic reports whether a ref is there and names another, which may not be there.
func (r *Repo) symbolic(name string) bool {
	_, err := os.Lstat(r.refPath(name))
	return err == nil
}

// Reflog returns what the reflog of a ref says that it was at last, "" when there is none, or when that is not there.
func (r *Repo) Reflog(ctx context.Context, ref string) session.Commit {
	data, err := durable.ReadFile(filepath.Join(r.commonDir, "logs", filepath.FromSlash(ref)), 64<<20)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	for _, line := range slices.Backward(lines) {
		fields := strings.Fields(line)
		if len(fields) < 2 || len(fields[1]) != r.idLength() || !isHex(fields[1]) {
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
	var newest session.Commit
	for _, c := range commits {
		info, err := r.CommitInfo(ctx, c)
		if err != nil || !strings.Contains(info.Body, "Wfs-Session: "+id.Trailer()) {
			continue
		}
		if data, err := r.File(ctx, c, session.FileSession); err != nil || data == nil {
			continue
		}
		if lost, err := r.Lost(ctx, []string{string(c)}); err != nil || lost != "" {
			continue
		}
		if newest == "" {
			newest = c
			continue
		}
		older, err := r.IsAncestor(ctx, c, newest)
		if err != nil {
			return "", err
		}
		if older {
			continue
		}
		newer, err := r.IsAncestor(ctx, newest, c)
		if err != nil {
			return "", err
		}
		if !newer {
			return "", nil
		}
		newest = c
	}
	return newest, nil
}

// Lost returns what git says of objects that refs of ours reach and that are not there, "" when all of them are. What
// other refs reach is not looked at.
func (r *Repo) Lost(ctx context.Context, refs []string) (string, error) {
	if len(refs) == 0 {
		return "", nil
	}
	args := append([]string{"rev-list", "--objects", "--quiet"}, refs...)
	args = append(args, "--not", "--exclude="+strings.TrimPrefix(branchPrefix, "refs/heads/")+"*", "--branches", "--tags", "--remotes")
	_, err := r.git(ctx, gitOpts{}, args...)
	var failed *GitError
	if errors.As(err, &failed) {
		return lastLine(failed.Stderr), nil
	}
	return "", err
}

// RescueOf returns the commit that this work tree's operation log keeps for a rescue, "" for none.
func (r *Repo) RescueOf(ctx context.Context, ref string) session.Commit {
	l, err := r.readOps(ctx, r.opsRef())
	if err != nil {
		return ""
	}
	for i, op := range l.ops {
		if op.Turn.Rescue == ref && l.rescues[i] != "" {
			return l.rescues[i]
		}
	}
	return ""
}

// CopyOf returns the path of the work tree that this directory is a copy of, "" when it is none: git's entry says that
// the linked work tree is elsewhere, and there it is. Git would take both for one.
func (r *Repo) CopyOf() (string, error) {
	if r.gitDir == r.commonDir {
		return "", nil
	}
	path, err := linkedPath(r.gitDir)
	if err != nil || path == "" || path == r.root || gone(path, r.gitDir) {
		return "", err
	}
	there, err := os.Stat(path)
	if err != nil {
		return "", ignoreAbsent(err)
	}
	here, err := os.Stat(r.root)
	if err != nil || os.SameFile(here, there) {
		return "", err
	}
	return path, nil
}
