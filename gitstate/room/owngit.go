package room

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ownGit gives the directory a repository of its own: what asks git there must neither find the live repository nor be
// told that there is none. It borrows the objects of that one, and its HEAD is a commit of the tree upon the live HEAD.
// Refs are the live tags alone. Whatever is done to it is gone the next time.
func (m *layout) ownGit(ctx context.Context, tree session.Tree) error {
	dir := filepath.Join(m.dir, ".git")
	if err := durable.RemoveTree(dir); err != nil {
		return err
	}
	durable.Hit(durable.CleanTidied)
	own := Call{Dir: m.dir, GitDir: dir}
	if _, err := m.set.Git(ctx, own, "init", "-q", "--template=", "--object-format="+m.set.Format); err != nil {
		return err
	}
	head, at, err := m.set.Head(ctx)
	if err != nil {
		return err
	}
	own.Stdin = commitObject(tree, head, at)
	id, err := m.set.Git(ctx, own, "hash-object", "-w", "-t", "commit", "--stdin")
	if err != nil {
		return err
	}
	tags, err := m.set.Git(ctx, Call{}, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
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
		"objects/info/alternates": []byte(filepath.Join(m.set.CommonDir, "objects") + "\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return m.copyIndex(filepath.Join(dir, "index"))
}

// commitObject is a commit of a tree upon another one, "" for none.
func commitObject(tree session.Tree, parent session.Commit, at int64) []byte {
	text := fmt.Appendf(nil, "tree %s\n", tree)
	if parent == "" {
		at = firstDay
	} else {
		text = fmt.Appendf(text, "parent %s\n", parent)
	}
	const ident = "wfs <wfs@localhost>"
	return fmt.Appendf(text, "author %s %d +0000\ncommitter %s %d +0000\n\nwfs: the tree that is judged\n", ident, at,
		ident, at)
}

// firstDay is the date of a materialised tree's commit that has no parent: what is packed with it must not be
// older than archives can say.
const firstDay = 946684800 // 2000-01-01

// settings adds to a configuration those of the repository that say what its files look like, and nothing else: no
// remotes, no hooks, no aliases.
func (m *layout) settings(ctx context.Context, file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text = fmt.Appendf(text, "[core]\n\thooksPath = %s\n", os.DevNull)
	out, err := m.set.Git(ctx, Call{OkExit: []int{1}}, "config", "--local", "-z", "--get-regexp",
		`^core\.(autocrlf|eol|filemode|ignorecase|precomposeunicode|symlinks)$`)
	for _, entry := range splitZ(out) {
		key, value, _ := strings.Cut(entry, "\n")
		if value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
			text = fmt.Appendf(text, "\t%s = %s\n", strings.TrimPrefix(key, "core."), value)
		}
	}
	return text, err
}

// copyIndex copies the room's index. Its time says to git which files it need not read.
func (m *layout) copyIndex(to string) error {
	info, err := os.Stat(m.index())
	if err != nil {
		return err
	}
	return errors.Join(copyFile(m.index(), to, info.Mode()), os.Chtimes(to, info.ModTime(), info.ModTime()))
}
