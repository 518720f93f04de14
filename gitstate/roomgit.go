package gitstate

import (
	"bytes"
	"compress/zlib"
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
func (m *materialiser) ownGit(ctx context.Context, tree session.Tree) error {
	r := m.repo
	dir := filepath.Join(m.dir, ".git")
	if err := durable.RemoveTree(dir); err != nil {
		return err
	}
	durable.Hit(durable.CleanTidied)
	for _, d := range []string{filepath.Join("objects", "info"), filepath.Join("objects", "pack"), filepath.Join("refs", "heads"), filepath.Join("refs", "tags")} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
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
	own := r.newCommit(string(tree), parents, "wfs <wfs@localhost>", commit.At, "wfs: the tree that is judged")
	tags, err := r.git(ctx, gitOpts{}, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
	if err != nil {
		return err
	}
	settings, err := m.settings(ctx)
	if err != nil {
		return err
	}
	loose, err := deflated(own)
	if err != nil {
		return err
	}
	object := filepath.Join("objects", own.id[:2], own.id[2:])
	if err := os.Mkdir(filepath.Join(dir, "objects", own.id[:2]), 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"HEAD":   []byte(own.id + "\n"),
		"config": settings,
		object:   loose,
		filepath.Join("objects", "info", "alternates"): []byte(filepath.ToSlash(filepath.Join(r.commonDir, "objects")) + "\n"),
		"packed-refs": tags,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return copyKeepingTime(m.index(), filepath.Join(dir, "index"))
}

// firstDay is the date of a materialised tree's commit that has no parent: what is packed with it must not be older than
// archives can say.
const firstDay = 946684800 // 2000-01-01

// settings are those of the repository's configuration that say what its files look like, and nothing else: no remotes, no
// hooks, no aliases.
func (m *materialiser) settings(ctx context.Context) ([]byte, error) {
	r := m.repo
	var b strings.Builder
	version := 0
	if r.format == "sha256" {
		version = 1
		b.WriteString("[extensions]\n\tobjectFormat = sha256\n")
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryFormatVersion = %d\n\tbare = false\n\thooksPath = %s\n", version, os.DevNull)
	out, err := r.git(ctx, gitOpts{okExit: []int{1}}, "config", "--local", "-z", "--get-regexp",
		`^core\.(autocrlf|eol|filemode|ignorecase|precomposeunicode|symlinks)$`)
	if err != nil {
		return nil, err
	}
	for _, entry := range splitZ(out) {
		key, value, _ := strings.Cut(entry, "\n")
		if value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
			fmt.Fprintf(&b, "\t%s = %s\n", strings.TrimPrefix(key, "core."), value)
		}
	}
	return []byte(b.String()), nil
}

// deflated is an object as a file of its own holds it.
func deflated(o newObject) ([]byte, error) {
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(z, "%s %d\x00", o.kind, len(o.data))
	_, err = z.Write(o.data)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}
