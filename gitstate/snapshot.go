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
	"github.com/wfs-dev/wfs/gitstate/object"
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
		err = r.Objects.WriteObjects(ctx, t.objects...)
	}
	return t.Snapshot, err
}

// newSnapshot is a snapshot whose newest objects are not stored yet.
type newSnapshot struct {
	session.Snapshot
	before, now *object.Index
	objects     []object.Object
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
	var own object.Entry
	if t.HeadTree != "" {
		if own, err = r.Objects.Entry(ctx, t.HeadTree, userDir); err != nil {
			return t, err
		}
	}
	trees, err := r.stagedTrees(ctx, index, added.now, own)
	if err != nil {
		return t, err
	}
	t.Tree = session.Tree(trees[len(trees)-1].ID)
	t.objects = append(added.objects, unstored(trees)...)
	return t, nil
}

// headSnapshot is a snapshot that knows nothing but where HEAD is.
func (r *Repo) headSnapshot(ctx context.Context) (s session.Snapshot, err error) {
	if s.Head, err = r.Refs.Head(ctx); err == nil && s.Head.Commit != "" {
		s.HeadTree, err = r.Objects.TreeOf(ctx, s.Head.Commit)
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
func (r *Repo) copyIndex(ctx context.Context, to string) (*object.Index, error) {
	if err := durable.MkdirAll(filepath.Dir(to)); err != nil {
		return nil, err
	}
	if err := removeLeftovers(to); err != nil {
		return nil, err
	}
	x, err := r.Objects.ReadIndex(ctx, r.Git.IndexPath())
	if err == nil && x.Data != nil {
		x.CopyTo = to
	}
	return x, err
}

// treeOfIndex returns the tree that a private index stands for, written if it was not yet. That it is the expected one,
// which exists, is found out without a git process. Conflicts are a *ReadyError.
func (r *Repo) treeOfIndex(ctx context.Context, path string, x *object.Index, expected session.Tree) (session.Tree, error) {
	info := x.Info()
	if len(info.Unmerged) > 0 {
		return "", unmerged(info)
	}
	if info.Tree != "" {
		return session.Tree(info.Tree), nil
	}
	if root, ok := r.Objects.RootOf(x); ok && root.ID == string(expected) {
		return expected, nil
	}
	if err := x.Store(); err != nil {
		return "", err
	}
	return r.Objects.WriteTree(ctx, path)
}

// treeWithout is treeOfIndex of an index that has other entries for some paths.
func (r *Repo) treeWithout(ctx context.Context, x *object.Index, but []byte) (session.Tree, error) {
	path := filepath.Join(r.Git.PrivateDir(), "before")
	if err := removeLeftovers(path); err != nil {
		return "", err
	}
	defer os.Remove(path)
	if err := durable.WriteCache(path, x.Data, 0o600); err != nil {
		return "", err
	}
	if err := r.putEntries(ctx, path, but); err != nil {
		return "", err
	}
	return r.Objects.WriteTree(ctx, path)
}

// withUserDir returns a tree with the .wfs of another one, or with none if that has none. from "" has none.
func (r *Repo) withUserDir(ctx context.Context, tree, from session.Tree) (session.Tree, error) {
	var own object.Entry
	if from != "" {
		var err error
		if own, err = r.Objects.Entry(ctx, from, userDir); err != nil {
			return "", err
		}
	}
	return r.withOwn(ctx, tree, own)
}

// withOwn returns a tree with the given .wfs, or with none if that is zero.
func (r *Repo) withOwn(ctx context.Context, tree session.Tree, own object.Entry) (session.Tree, error) {
	own.Name = userDir
	return r.Objects.WithEntry(ctx, tree, own)
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
