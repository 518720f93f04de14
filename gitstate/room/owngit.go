package room

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
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
	own := gitcmd.Opts{GitDir: dir}
	if _, err := m.inDir().Run(ctx, own, "init", "-q", "--template=", "--object-format="+m.set.Git.Format); err != nil {
		return err
	}
	commit, err := m.commit(ctx, tree)
	if err != nil {
		return err
	}
	own.Stdin = commit
	id, err := m.inDir().Run(ctx, own, "hash-object", "-w", "-t", "commit", "--stdin")
	if err != nil {
		return err
	}
	tags, err := m.set.Git.Run(ctx, gitcmd.Opts{}, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
	if err != nil {
		return err
	}
	settings, err := m.settings(ctx, filepath.Join(dir, "config"))
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"HEAD":                    id,
		"config":                  settings,
		"packed-refs":             tags,
		"objects/info/alternates": []byte(filepath.Join(m.set.Git.CommonDir, "objects") + "\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return gitcmd.CopyKeepingTime(m.index(), filepath.Join(dir, "index"))
}

// commit returns the content of a commit of a tree on top of the live HEAD.
func (m *layout) commit(ctx context.Context, tree session.Tree) ([]byte, error) {
	head, err := m.set.Refs.Head(ctx)
	if err != nil {
		return nil, err
	}
	var parents []session.Commit
	info := object.CommitInfo{At: firstDay}
	if head.Commit != "" {
		if info, err = m.set.Objects.CommitInfo(ctx, head.Commit); err != nil {
			return nil, err
		}
		parents = []session.Commit{head.Commit}
	}
	return m.set.Objects.NewCommit(string(tree), parents, "wfs <wfs@localhost>", info.At,
		"wfs: the tree that is judged").Data, nil
}

// firstDay is the date of that commit if the live HEAD has no commit: archive formats cannot store dates that are too
// old.
const firstDay = 946684800 // 2000-01-01

// settings returns the text of a configuration file, extended by those settings of the live repository that affect the
// content of files. It adds no remotes, hooks or aliases.
func (m *layout) settings(ctx context.Context, file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text = fmt.Appendf(text, "[core]\n\thooksPath = %s\n", os.DevNull)
	out, err := m.set.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "config", "--local", "-z", "--get-regexp",
		`^core\.(autocrlf|eol|filemode|ignorecase|precomposeunicode|symlinks)$`)
	for _, entry := range gitcmd.SplitZ(out) {
		key, value, _ := strings.Cut(entry, "\n")
		if value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
			text = fmt.Appendf(text, "\t%s = %s\n", strings.TrimPrefix(key, "core."), value)
		}
	}
	return text, err
}
