package room

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Provisioned lists files outside of git that were copied or linked into a new work tree, as paths from the top of the
// work tree.
type Provisioned struct {
	// a directory without tracked files stands for everything in it
	Copied  []string       `json:"copied,omitempty"`
	Linked  []string       `json:"linked,omitempty"`
	Skipped []session.Skip `json:"skipped,omitempty"`
}

// ErrCannotLink is the error for a path that Provision must not link.
var ErrCannotLink = errors.New("cannot be linked")

// Provision brings untracked and ignored files of this work tree to another work tree, whose top directory is `into`:
// it copies the files that match the patterns in copies, and makes links to the paths in links. Files that exist in the
// other work tree stay. It never follows symbolic links in either work tree.
func (s *Set) Provision(ctx context.Context, into string, copies, links []string) (Provisioned, error) {
	p := provisioner{from: s}
	var err error
	if p.source, err = filepath.EvalSymlinks(s.Git.Root); err != nil {
		return p.done, err
	}
	if p.dst, err = os.OpenRoot(into); err != nil {
		return p.done, err
	}
	defer p.dst.Close()
	for _, name := range links {
		if err := p.link(ctx, name); err != nil {
			return p.done, err
		}
	}
	for _, pattern := range copies {
		if err := p.copies(ctx, pattern); err != nil {
			return p.done, err
		}
	}
	return p.done, nil
}

type provisioner struct {
	from   *Set
	source string // real path of the top of the work tree
	dst    *os.Root
	done   Provisioned
}

func (p *provisioner) skip(name, why string) {
	p.done.Skipped = append(p.done.Skipped, session.Skip{Path: name, Why: why})
}

// tracked reports whether git tracks a path or a file below it.
func (p *provisioner) tracked(ctx context.Context, name string) (bool, error) {
	out, err := p.from.list(ctx, "ls-files", "-z", "--", ":(top,literal)"+name)
	return len(out) > 0, err
}

func (p *provisioner) link(ctx context.Context, name string) error {
	file := p.from.live(name)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		p.skip(name, "is not in the main work tree")
		return nil
	}
	tracked, err := p.tracked(ctx, name)
	if err != nil {
		return err
	}
	target, err := filepath.EvalSymlinks(file)
	if err == nil {
		err = p.mayLink(target, tracked)
	}
	if err != nil {
		return fmt.Errorf("link: %s %w: %w", name, ErrCannotLink, err)
	}
	if err := p.linkedLeads(name, target); err != nil {
		return err
	}
	if ok, err := p.free(name); err != nil || !ok {
		return err
	}
	if err := p.dst.Symlink(target, filepath.FromSlash(name)); err != nil {
		return err
	}
	p.done.Linked = append(p.done.Linked, name)
	return nil
}

// mayLink returns an error if a link to target must not be created.
func (p *provisioner) mayLink(target string, tracked bool) error {
	if tracked {
		return errors.New("git tracks it, or something in it")
	}
	if target == p.source || !durable.Inside(target, p.source) ||
		durable.Inside(target, filepath.Join(p.source, ".git")) {
		return fmt.Errorf("it leads out of the main work tree, to %s", target)
	}
	return nil
}

// linkedLeads returns an error if installed packages in a directory that is to be linked point back to the project's
// own files. It checks the places where such packages usually have links or lists of modules.
func (p *provisioner) linkedLeads(name, target string) error {
	for _, pattern := range []string{"*", "@*/*", "lib/*/site-packages/*", "Lib/site-packages/*"} {
		entries, _ := filepath.Glob(filepath.Join(gitcmd.Globbed(target), pattern))
		for _, e := range entries {
			if to := p.leads(e); to != "" && !durable.Inside(to, target) {
				rel, _ := filepath.Rel(target, e)
				return leadsBack(path.Join(name, filepath.ToSlash(rel)), to)
			}
		}
	}
	return nil
}

// leads returns the path in the main work tree to which a link points. For a file that makes Python search modules
// there, it returns that work tree, and for other files "".
func (p *provisioner) leads(file string) string {
	if _, err := os.Readlink(file); err == nil {
		if to, err := filepath.EvalSymlinks(file); err == nil && durable.Inside(to, p.source) {
			return to
		}
	} else if leadsPython(filepath.Base(file)) && namesTree(file, p.source, p.from.Git.Root) != "" {
		return p.source
	}
	return ""
}

// free reports whether a path does not exist in the new work tree. In that case, it creates the parent directories.
func (p *provisioner) free(name string) (bool, error) {
	if _, err := p.dst.Lstat(filepath.FromSlash(name)); err == nil {
		p.skip(name, "already exists in the new work tree")
		return false, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if dir := path.Dir(name); dir != "." {
		return true, p.dst.MkdirAll(filepath.FromSlash(dir), 0o777)
	}
	return true, nil
}

func (p *provisioner) copies(ctx context.Context, pattern string) error {
	names, err := p.from.list(ctx, "ls-files", "-o", "-z", "--", ":(top,glob)"+pattern,
		":(top,glob)"+pattern+"/**")
	if err != nil {
		return err
	}
	if len(names) == 0 {
		p.skip(pattern, "no untracked file of the main work tree has this name")
		return nil
	}
	whole, err := p.whole(ctx, pattern)
	if err != nil {
		return err
	}
	before := len(p.done.Copied)
	for _, name := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		done, err := p.copy(name)
		if err != nil {
			return fmt.Errorf("copy: %s: %w", name, err)
		}
		if done {
			p.done.Copied = append(p.done.Copied, name)
		}
	}
	if whole {
		p.done.Copied = append(p.done.Copied[:before], pattern)
	}
	return nil
}

// whole reports whether a pattern is the path of a directory without tracked files, so that the directory is copied as
// a whole.
func (p *provisioner) whole(ctx context.Context, pattern string) (bool, error) {
	info, err := os.Lstat(p.from.live(pattern))
	if err != nil || !info.IsDir() {
		return false, nil //nolint:nilerr // a pattern with wildcards
	}
	tracked, err := p.tracked(ctx, pattern)
	return !tracked, err
}

// copy copies one file. A symbolic link is copied as a link.
func (p *provisioner) copy(name string) (bool, error) {
	if strings.HasSuffix(name, "/") {
		p.skip(name, "a nested repository")
		return false, nil
	}
	from := p.from.live(name)
	info, err := os.Lstat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // deleted since it was listed
	case err != nil:
		return false, err
	case info.Mode()&fs.ModeSymlink != 0:
		return p.copyLink(name)
	case !info.Mode().IsRegular():
		p.skip(name, "neither a file nor a link")
		return false, nil
	}
	if ok, err := p.free(name); err != nil || !ok {
		return false, err
	}
	if to := p.leads(from); to != "" {
		return false, leadsBack(name, to)
	}
	return true, p.copyFile(name, info)
}

// copyLink copies a symbolic link without reading its target, which may be, for example, the system's Python.
func (p *provisioner) copyLink(name string) (bool, error) {
	target, err := os.Readlink(p.from.live(name))
	if err != nil {
		return false, err
	}
	file := filepath.FromSlash(name)
	switch {
	case !filepath.IsAbs(target):
		if !filepath.IsLocal(filepath.Join(filepath.Dir(file), target)) {
			p.skip(name, "a link out of the work tree, to "+target)
			return false, nil
		}
	case durable.Inside(target, p.source), durable.Inside(target, p.from.Git.Root):
		return false, leadsBack(name, target)
	}
	if ok, err := p.free(name); err != nil || !ok {
		return false, err
	}
	return true, p.dst.Symlink(target, file)
}

func (p *provisioner) copyFile(name string, info fs.FileInfo) error {
	in, err := os.Open(p.from.live(name))
	if err != nil {
		return err
	}
	defer in.Close()
	file := filepath.FromSlash(name)
	out, err := p.dst.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return p.dst.Chtimes(file, info.ModTime(), info.ModTime())
}

// Loose returns which of the paths `git add` in this work tree would add, although checkpoints leave them out.
func (s *Set) Loose(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	args := []string{"ls-files", "-o", "--exclude-standard", "--directory", "-z", "--"}
	for _, p := range paths {
		args = append(args, ":(top,literal)"+p)
	}
	return s.list(ctx, args...)
}
