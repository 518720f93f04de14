package gitstate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ownGit gives the directory a repository of its own: what asks git there must neither find the live repository nor be
// told that there is none. It borrows the objects of that one, and its HEAD is a commit of the tree upon the live HEAD.
// Refs are the live tags alone. Whatever is done to it is gone the next time.
func (m *materialiser) ownGit(ctx context.Context, tree session.Tree) error {
	r := m.repo
	dir := filepath.Join(m.dir, ".git")
	if err := durable.RemoveTree(dir); err != nil {
		return err
	}
	durable.Hit(durable.CleanTidied)
	own := &Repo{Git: &gitcmd.Git{Root: m.dir, Env: r.Git.Env, UserEnv: r.Git.UserEnv}}
	o := gitcmd.Opts{GitDir: dir}
	if _, err := own.Git.Run(ctx, o, "init", "-q", "--template=", "--object-format="+r.Git.Format); err != nil {
		return err
	}
	head, err := r.Head(ctx)
	if err != nil {
		return err
	}
	commit := CommitInfo{At: firstDay}
	var parents []session.Commit
	if head.Commit != "" {
		if commit, err = r.CommitInfo(ctx, head.Commit); err != nil {
			return err
		}
		parents = append(parents, head.Commit)
	}
	object := r.newCommit(string(tree), parents, "wfs <wfs@localhost>", commit.At, "wfs: the tree that is judged")
	o.Stdin = object.data
	if _, err := own.Git.Run(ctx, o, "hash-object", "-w", "-t", "commit", "--stdin"); err != nil {
		return err
	}
	tags, err := r.Git.Run(ctx, gitcmd.Opts{}, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
	if err != nil {
		return err
	}
	settings, err := m.settings(ctx, filepath.Join(dir, "config"))
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"HEAD":                    []byte(object.id + "\n"),
		"config":                  settings,
		"packed-refs":             tags,
		"objects/info/alternates": []byte(filepath.Join(r.Git.CommonDir, "objects") + "\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return copyKeepingTime(m.index(), filepath.Join(dir, "index"))
}

// firstDay is the date of a materialised tree's commit that has no parent: what is packed with it must not be
// older than archives can say.
const firstDay = 946684800 // 2000-01-01

// settings adds to a configuration those of the repository that say what its files look like, and nothing else: no
// remotes, no hooks, no aliases.
func (m *materialiser) settings(ctx context.Context, file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text = fmt.Appendf(text, "[core]\n\thooksPath = %s\n", os.DevNull)
	out, err := m.repo.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "config", "--local", "-z", "--get-regexp",
		`^core\.(autocrlf|eol|filemode|ignorecase|precomposeunicode|symlinks)$`)
	for _, entry := range gitcmd.SplitZ(out) {
		key, value, _ := strings.Cut(entry, "\n")
		if value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
			text = fmt.Appendf(text, "\t%s = %s\n", strings.TrimPrefix(key, "core."), value)
		}
	}
	return text, err
}
