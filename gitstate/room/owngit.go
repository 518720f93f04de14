package room

import (
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ownGit creates a git repository in the room: programs that run git there must neither find the repository of the work
// tree (the live one) nor fail because there is none. The new repository borrows the objects of the live one. Its HEAD
// is a commit of the tree on top of the live HEAD, and its only refs are the live tags. The next layout replaces it.
func (m *layout) ownGit(ctx context.Context, tree session.Tree) error {
	dir := filepath.Join(m.dir, ".git")
	if err := durable.RemoveTree(dir); err != nil {
		return err
	}
	durable.Hit(durable.CleanTidied)
	settings, err := m.settings(ctx, dir)
	if err != nil {
		return err
	}
	commit, err := m.commit(ctx, tree)
	if err != nil {
		return err
	}
	loose, err := looseObject(commit)
	if err != nil {
		return err
	}
	tags, err := m.set.Refs.RefsBelow(ctx, "refs/tags")
	if err != nil && !errors.Is(err, refs.ErrBrokenRef) {
		return err
	}
	var packed strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		fmt.Fprintf(&packed, "%s %s\n", tags[name], name)
	}
	for name, data := range map[string]string{
		"HEAD":                    commit.ID + "\n",
		"config":                  settings,
		"packed-refs":             packed.String(),
		"objects/info/alternates": filepath.Join(m.set.Git.CommonDir, "objects") + "\n",
		filepath.Join("objects", commit.ID[:2], commit.ID[2:]): loose,
	} {
		file := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(file), 0o777)
		if err = errors.Join(err, os.WriteFile(file, []byte(data), 0o644)); err != nil {
			return err
		}
	}
	for _, name := range []string{"objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			return err
		}
	}
	return gitcmd.CopyKeepingTime(m.index(), filepath.Join(dir, "index"))
}

// looseObject returns the content of the file in which git stores one object.
func looseObject(o object.Object) (string, error) {
	var b strings.Builder
	z := zlib.NewWriter(&b)
	_, err := fmt.Fprintf(z, "%s %d\x00%s", o.Kind, len(o.Data), o.Data)
	err = errors.Join(err, z.Close())
	return b.String(), err
}

// commit returns a commit of a tree on top of the live HEAD.
func (m *layout) commit(ctx context.Context, tree session.Tree) (object.Object, error) {
	head, err := m.set.Refs.Head(ctx)
	if err != nil {
		return object.Object{}, err
	}
	var parents []session.Commit
	info := object.CommitInfo{At: firstDay}
	if head.Commit != "" {
		if info, err = m.set.Objects.CommitInfo(ctx, head.Commit); err != nil {
			return object.Object{}, err
		}
		parents = []session.Commit{head.Commit}
	}
	return m.set.Objects.NewCommit(string(tree), parents, "wfs <wfs@localhost>", info.At,
		"wfs: the tree that is judged"), nil
}

// firstDay is the date of that commit if the live HEAD has no commit: archive formats cannot store dates that are too
// old.
const firstDay = 946684800 // 2000-01-01

// settings returns the text of the configuration file of a new repository at dir, extended by those settings of the
// live repository that affect the content of files. It adds no remotes, hooks or aliases.
func (m *layout) settings(ctx context.Context, dir string) (string, error) {
	plain, err := m.set.plainConfig(ctx, m.inDir(), dir)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s[core]\n\thooksPath = %s\n", plain, os.DevNull)
	live, err := m.set.Git.Answers.FreshSettings(ctx)
	for _, key := range []string{"autocrlf", "eol", "filemode", "ignorecase", "precomposeunicode", "symlinks"} {
		value := live["core."+key]
		if value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
			fmt.Fprintf(&text, "\t%s = %s\n", key, value)
		}
	}
	return text.String(), err
}

// plainConfig returns the configuration file that git writes when it creates a repository beside this one: it tries out
// what the file system can do. Only the first call creates one, at dir.
func (s *Set) plainConfig(ctx context.Context, git *gitcmd.Git, dir string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config != "" {
		return s.config, nil
	}
	_, err := git.Run(ctx, gitcmd.Opts{GitDir: dir}, "init", "-q", "--template=", "--object-format="+s.Git.Format)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(dir, "config"))
	s.config = string(text)
	return s.config, err
}
