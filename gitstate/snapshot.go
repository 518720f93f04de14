package gitstate

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// userDir is the directory in the work tree that belongs to the user: never part of a snapshot or a move.
const userDir = ".wfs"

// Snapshot writes the work tree as a tree object, durable, through a private index; the user's index is only
// read. exclude is the session's extra exclude file, "" for none. What cannot be held is named in Skipped, what
// is held out by its guard in HeldOut. An index with conflicts is a *ReadyError.
func (r *Repo) Snapshot(ctx context.Context, exclude string) (session.Snapshot, error) {
	t, err := r.take(ctx, exclude, false)
	if err == nil && t.Tree != t.HeadTree && t.Tree != t.Index {
		err = r.writeObjects(ctx, t.objects...)
	}
	return t.Snapshot, err
}

// newSnapshot is a snapshot whose newest objects are not stored yet.
type newSnapshot struct {
	session.Snapshot
	before, now *index
	objects     []newObject
}

// take takes a snapshot. With conflicts, an index that has them does not keep it from the files, and stands for
// no tree.
func (r *Repo) take(ctx context.Context, exclude string, conflicts bool) (t newSnapshot, err error) {
	if t.Snapshot, err = r.headSnapshot(ctx); err != nil {
		return t, err
	}
	index := r.snapshotIndex()
	if t.before, err = r.copyIndex(ctx, index); err != nil {
		return t, err
	}
	t.Index, err = r.treeOfIndex(ctx, index, t.before, t.HeadTree)
	if conflict := (*ReadyError)(nil); err != nil && (!conflicts || !errors.As(err, &conflict)) {
		return t, err
	}
	added, err := r.addAll(ctx, index, t.before, t.Index == t.HeadTree, exclude, t.Head.Commit, t.HeadTree)
	if err != nil {
		return t, err
	}
	t.Staged, t.now = added.Staged, added.now
	if len(added.copied) > 0 && t.Index != "" {
		if t.Index, err = r.treeWithout(ctx, t.before, added.copied); err != nil {
			return t, err
		}
	}
	var own treeEntry
	if t.HeadTree != "" {
		if own, err = r.entry(ctx, t.HeadTree, userDir); err != nil {
			return t, err
		}
	}
	trees, err := r.stagedTrees(ctx, index, added.now, own)
	if err != nil {
		return t, err
	}
	t.Tree = session.Tree(trees[len(trees)-1].id)
	t.objects = append(added.objects, unstored(trees)...)
	return t, nil
}

// headSnapshot is a snapshot that knows nothing but where HEAD is.
func (r *Repo) headSnapshot(ctx context.Context) (s session.Snapshot, err error) {
	if s.Head, err = r.Head(ctx); err == nil && s.Head.Commit != "" {
		s.HeadTree, err = r.TreeOf(ctx, s.Head.Commit)
	}
	return s, err
}

// snapshotIndex is the private index of the newest Snapshot.
func (r *Repo) snapshotIndex() string { return filepath.Join(r.Git.PrivateDir(), "index") }

// removeLeftovers removes a private index and its lock. Whoever makes one holds the work tree's own lock, so
// that what is there was left by a process that was killed.
func removeLeftovers(index string) error {
	for _, old := range []string{index, index + ".lock"} {
		err := os.Remove(old)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			_, err = durable.MoveAside(old) // a directory, and not by us
		} else {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyIndex reads the work tree's index, of which store makes a copy.
func (r *Repo) copyIndex(ctx context.Context, to string) (*index, error) {
	if err := durable.MkdirAll(filepath.Dir(to)); err != nil {
		return nil, err
	}
	if err := removeLeftovers(to); err != nil {
		return nil, err
	}
	x, err := r.readIndex(ctx, r.Git.IndexPath())
	if err == nil && x.data != nil {
		x.copyTo = to
	}
	return x, err
}

// store writes the private copy of an index, for git, if it is not written yet.
func (x *index) store() error {
	to := x.copyTo
	if x.copyTo = ""; to == "" {
		return nil
	}
	if err := durable.WriteCache(to, x.data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, x.at, x.at) // by which git tells which files may have changed since
}

// readWhole reads a file, and what it is like; nil when there is none.
func readWhole(path string) ([]byte, fs.FileInfo, error) {
	in, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return nil, nil, err
	}
	var data bytes.Buffer
	data.Grow(int(st.Size()) + bytes.MinRead)
	_, err = data.ReadFrom(in)
	return data.Bytes(), st, err
}

// treeOfIndex returns the tree that a private index stands for, written if it was not yet. That it is the expected one,
// which exists, is found out without a git process. Conflicts are a *ReadyError.
func (r *Repo) treeOfIndex(ctx context.Context, path string, x *index, expected session.Tree) (session.Tree, error) {
	info := x.info()
	if len(info.unmerged) > 0 {
		return "", unmerged(info)
	}
	if info.tree != "" {
		return session.Tree(info.tree), nil
	}
	if root, ok := r.rootOf(x); ok && root.id == string(expected) {
		return expected, nil
	}
	if err := x.store(); err != nil {
		return "", err
	}
	return r.writeTree(ctx, path)
}

// treeWithout is treeOfIndex of an index that has other entries for some paths.
func (r *Repo) treeWithout(ctx context.Context, x *index, but []byte) (session.Tree, error) {
	path := filepath.Join(r.Git.PrivateDir(), "before")
	if err := removeLeftovers(path); err != nil {
		return "", err
	}
	defer os.Remove(path)
	if err := durable.WriteCache(path, x.data, 0o600); err != nil {
		return "", err
	}
	if err := r.putEntries(ctx, path, but); err != nil {
		return "", err
	}
	return r.writeTree(ctx, path)
}

// writeTree writes the tree of a private index. Git checks that every object in it is there.
func (r *Repo) writeTree(ctx context.Context, index string) (session.Tree, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index)}, "-c", "core.splitIndex=false", "write-tree")
	return session.Tree(bytes.TrimSpace(out)), err
}

// withUserDir returns a tree with the .wfs of another one, or with none if that has none. from "" has none.
func (r *Repo) withUserDir(ctx context.Context, tree, from session.Tree) (session.Tree, error) {
	var own treeEntry
	if from != "" {
		var err error
		if own, err = r.entry(ctx, from, userDir); err != nil {
			return "", err
		}
	}
	return r.withOwn(ctx, tree, own)
}

// withOwn returns a tree with the given .wfs, or with none if that is zero.
func (r *Repo) withOwn(ctx context.Context, tree session.Tree, own treeEntry) (session.Tree, error) {
	own.name = userDir
	return r.withEntry(ctx, tree, own)
}

// excludesPath is a file with the user's own global excludes followed by a session's. Git reads only one
// core.excludesFile.
func (r *Repo) excludesPath() string { return filepath.Join(r.Git.PrivateDir(), "excludes") }

// combineExcludes writes that file.
func (r *Repo) combineExcludes(ctx context.Context, rules []byte) error {
	all, err := r.userExcludes(ctx)
	if err != nil {
		return err
	}
	if len(all) > 0 && all[len(all)-1] != '\n' {
		all = append(all, '\n')
	}
	all = append(all, rules...)
	if old, err := durable.ReadFile(r.excludesPath(), int64(len(all))); err == nil && bytes.Equal(old, all) {
		return nil
	}
	if err := durable.MkdirAll(r.Git.PrivateDir()); err != nil {
		return err
	}
	return durable.WriteCache(r.excludesPath(), all, 0o600)
}

// userExcludes is the content of the user's own exclude file. One that cannot be read is a *ReadyError: git
// gives up then.
func (r *Repo) userExcludes(ctx context.Context) ([]byte, error) {
	path, err := r.globalExcludes(ctx)
	if err != nil || path == "" {
		return nil, err
	}
	if path == noExcludes {
		return nil, nil
	}
	text, err := gitcmd.ReadFile(path)
	if err != nil && !gitcmd.Absent(err) {
		return nil, &ReadyError{NotExcludes, err.Error()}
	}
	return text, nil
}

// globalExcludes is the path of the user's own exclude file, "" for none. While agents work, settings may change.
func (r *Repo) globalExcludes(ctx context.Context) (string, error) {
	now := r.Git.SettingsStamp()
	if was := r.configured.Swap(&now); was != nil && *was != now {
		r.Git.Config.Forget()
	}
	s, err := r.Git.Settings(ctx)
	path, set := s["core.excludesfile"]
	switch {
	case err != nil:
		return "", err
	case set && path == "":
		return noExcludes, nil
	case path != "" && strings.Contains("~%:", path[:1]) && !strings.HasPrefix(path, "~/"): // only git can expand it
		out, err := r.Git.Run(ctx, gitcmd.Opts{}, "config", "--type=path", "--get", "core.excludesFile")
		return strings.TrimSuffix(string(out), "\n"), err
	}
	return r.excludeFile(path), nil
}

// noExcludes is an exclude file for those who have switched theirs off: core.excludesFile is set, to nothing.
const noExcludes = os.DevNull

// excludeFile is the file that a value of core.excludesFile names, from the top of the work tree; where git
// looks without one, for "".
func (r *Repo) excludeFile(path string) string {
	if below, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(r.Git.Getenv("HOME"), below)
	}
	if path != "" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.Git.Root, path)
		}
		return path
	}
	if dir := r.Git.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", "ignore")
	}
	if home := r.Git.Getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "git", "ignore")
	}
	return ""
}
